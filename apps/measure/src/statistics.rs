// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! Means, and how sure they are: always 95 %.

/// Normal quantile of 97.5 %.
const Z: f64 = 1.959_964;

/// Of a set of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub count: usize,
    pub mean: f64,
    pub least: f64,
    pub most: f64,
    /// Unbiased; 0 of a single number.
    pub variance: f64,
}

impl Sample {
    /// `None` if there are no numbers.
    #[must_use]
    pub fn of(numbers: &[f64]) -> Option<Self> {
        let count = numbers.len();
        if count == 0 {
            return None;
        }
        let mean = numbers.iter().sum::<f64>() / count as f64;
        let squares: f64 = numbers.iter().map(|x| (x - mean).powi(2)).sum();
        Some(Self {
            count,
            mean,
            least: numbers.iter().copied().fold(f64::INFINITY, f64::min),
            most: numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            variance: squares / (count.max(2) - 1) as f64,
        })
    }

    /// Of the mean, squared.
    fn error(&self) -> f64 {
        self.variance / self.count as f64
    }
}

/// A number, and half the width of its interval; `None`: too few to tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub half: Option<f64>,
}

/// The ratio of two independent samples' means (delta method, Welch's degrees of freedom).
#[must_use]
pub fn ratio(above: &Sample, below: &Sample) -> Option<Estimate> {
    if below.mean <= 0.0 {
        return None;
    }
    let value = above.mean / below.mean;
    let parts = [
        above.error() / below.mean.powi(2),
        value.powi(2) * below.error() / below.mean.powi(2),
    ];
    let counts = [above.count, below.count];
    if counts.iter().any(|&count| count < 3) {
        return Some(Estimate { value, half: None });
    }
    let variance: f64 = parts.iter().sum();
    let weighed: f64 = parts
        .iter()
        .zip(counts)
        .map(|(part, count)| part.powi(2) / (count - 1) as f64)
        .sum();
    let freedom = if weighed > 0.0 {
        variance.powi(2) / weighed
    } else {
        f64::INFINITY
    };
    Some(Estimate {
        value,
        half: Some(student(freedom) * variance.sqrt()),
    })
}

/// Student's quantile of 97.5 % (Abramowitz and Stegun 26.7.5), within 1 % from three degrees of freedom on.
fn student(freedom: f64) -> f64 {
    let z = Z;
    let terms = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    let freedom = freedom.max(2.0);
    z + terms[0] / freedom + terms[1] / freedom.powi(2) + terms[2] / freedom.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        for (freedom, table) in [
            (3.0, 3.182),
            (5.0, 2.571),
            (10.0, 2.228),
            (30.0, 2.042),
            (f64::INFINITY, 1.960),
        ] {
            assert!(
                (student(freedom) / table - 1.0).abs() < 0.01,
                "{freedom}: {}",
                student(freedom)
            );
        }
    }

    #[test]
    fn a_sample() {
        let sample = Sample::of(&[1.0, 2.0, 3.0, 4.0]).expect("numbers");
        assert_eq!((sample.mean, sample.least, sample.most), (2.5, 1.0, 4.0));
        assert!((sample.variance - 5.0 / 3.0).abs() < 1e-12);
        assert_eq!(Sample::of(&[]), None);
    }

    /// The interval holds the true ratio in about 95 of 100 trials.
    #[test]
    fn the_interval_is_honest() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut draw = |mean: f64, count: usize| {
            let numbers: Vec<f64> = (0..count)
                .map(|_| mean + (0..12).map(|_| random.f64()).sum::<f64>() - 6.0)
                .collect();
            Sample::of(&numbers).expect("numbers")
        };
        let trials = 4000;
        let held = (0..trials)
            .filter(|_| {
                let found = ratio(&draw(8.0, 10), &draw(10.0, 7)).expect("a ratio");
                (found.value - 0.8).abs() <= found.half.expect("enough")
            })
            .count();
        let share = held as f64 / f64::from(trials);
        assert!((0.935..0.965).contains(&share), "{share}");
    }

    #[test]
    fn two_numbers_tell_no_interval() {
        let (few, many) = (
            Sample::of(&[1.0, 2.0]).expect("two"),
            Sample::of(&[1.0; 9]).expect("nine"),
        );
        assert_eq!(ratio(&few, &many), Some(Estimate { value: 1.5, half: None }));
    }
}
