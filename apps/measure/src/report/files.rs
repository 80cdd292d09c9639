// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//! The numbers for other programs: Parquet, and flent's own files.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use flate2::write::GzEncoder;
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::{json, Value};

use super::contents::Report;
use crate::action::{Action, Direction};
use crate::results::{Latency, Measurement};

const SCHEMA: &str = "
message measurement {
    required int64 at (TIMESTAMP(MILLIS, true));
    required double elapsed_s;
    required binary action (UTF8);
    required binary primary (UTF8);
    optional binary beside (UTF8);
    required int32 others;
    required binary direction (UTF8);
    required int64 bytes;
    required double seconds;
    required int64 beside_bytes;
    required double primary_mbit;
    required double beside_mbit;
    required boolean cut;
    required int32 ended;
    optional double ping_p50_ms;
    optional double ping_p95_ms;
    optional double call_p50_ms;
    optional double call_p95_ms;
    optional double call_lost;
}";

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

/// The bytes of the file.
pub fn parquet(measurements: &[Measurement]) -> Result<Vec<u8>> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    columns(&mut group, measurements)?;
    group.close()?;
    Ok(writer.into_inner()?)
}

/// In the order of the schema.
fn columns(group: &mut Group<'_>, all: &[Measurement]) -> Result<()> {
    let text = |text: String| ByteArray::from(text.into_bytes());
    let ping = |value: fn(&Latency) -> f64| move |m: &Measurement| m.ping.as_ref().map(value);
    let call = |value: fn(&Latency) -> f64| move |m: &Measurement| m.call.as_ref().map(value);
    whole::<Int64Type>(group, all, |m| m.at.timestamp_millis())?;
    whole::<DoubleType>(group, all, |m| m.elapsed_s)?;
    whole::<ByteArrayType>(group, all, |m| text(m.action.to_string()))?;
    whole::<ByteArrayType>(group, all, |m| text(m.action.primary.name().to_owned()))?;
    column::<ByteArrayType>(group, all, |m| {
        m.action.beside.as_ref().map(|(flow, _)| text(flow.name().to_owned()))
    })?;
    whole::<Int32Type>(group, all, |m| m.action.others() as i32)?;
    whole::<ByteArrayType>(group, all, |m| text(m.direction.to_string()))?;
    whole::<Int64Type>(group, all, |m| m.bytes as i64)?;
    whole::<DoubleType>(group, all, |m| m.seconds)?;
    whole::<Int64Type>(group, all, |m| m.beside_bytes as i64)?;
    whole::<DoubleType>(group, all, Measurement::primary_mbit)?;
    whole::<DoubleType>(group, all, Measurement::beside_mbit)?;
    whole::<BoolType>(group, all, |m| m.cut)?;
    whole::<Int32Type>(group, all, |m| m.ended as i32)?;
    column::<DoubleType>(group, all, ping(|l| l.p50_ms))?;
    column::<DoubleType>(group, all, ping(|l| l.p95_ms))?;
    column::<DoubleType>(group, all, call(|l| l.p50_ms))?;
    column::<DoubleType>(group, all, call(|l| l.p95_ms))?;
    column::<DoubleType>(group, all, call(|l| f64::from(l.lost) / f64::from(l.sent.max(1))))
}

/// A column in which every row has a value.
fn whole<T: DataType>(group: &mut Group<'_>, all: &[Measurement], value: impl Fn(&Measurement) -> T::T) -> Result<()> {
    let values: Vec<T::T> = all.iter().map(value).collect();
    write::<T>(group, &values, None)
}

/// A column in which some rows have none.
fn column<T: DataType>(
    group: &mut Group<'_>,
    all: &[Measurement],
    value: impl Fn(&Measurement) -> Option<T::T>,
) -> Result<()> {
    let cells: Vec<Option<T::T>> = all.iter().map(value).collect();
    let levels: Vec<i16> = cells.iter().map(|cell| cell.is_some().into()).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    write::<T>(group, &values, Some(&levels))
}

fn write<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: Option<&[i16]>) -> Result<()> {
    let mut column = group.next_column()?.expect("as many as the schema has");
    column.typed::<T>().write_batch(values, levels, None)?;
    Ok(column.close()?)
}

const VERSION: u32 = 4;

/// Names and bytes.
pub fn flent(report: &Report) -> Result<Vec<(String, Vec<u8>)>> {
    let mut groups: BTreeMap<(Direction, &Action), Vec<&Measurement>> = BTreeMap::new();
    for measurement in &report.measurements {
        groups
            .entry((measurement.direction, &measurement.action))
            .or_default()
            .push(measurement);
    }
    let file = |((direction, action), group): (&(Direction, &Action), &Vec<&Measurement>)| {
        let text = serde_json::to_vec(&document(report, *direction, action, group))?;
        let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text)?;
        let name = action.to_string().replace('/', "-");
        Ok((format!("{name}-{direction}.flent.gz"), gzip.finish()?))
    };
    groups.iter().map(file).collect()
}

fn document(report: &Report, direction: Direction, action: &Action, group: &[&Measurement]) -> Value {
    let (test, series) = match direction {
        Direction::Up => ("tcp_upload", "TCP upload"),
        Direction::Down => ("tcp_download", "TCP download"),
    };
    let begun = report.measurements[0].at;
    // By elapsed time where the clock has jumped: x must not go back.
    let x: Vec<f64> = group.iter().map(|m| m.elapsed_s).collect();
    let rates: Vec<f64> = group.iter().map(|m| m.primary_mbit()).collect();
    let pings: Vec<Option<f64>> = group.iter().map(|m| m.ping.map(|ping| ping.p50_ms)).collect();
    let length = x.last().copied().unwrap_or(0.0).ceil();
    let time = begun.format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
    json!({
        "version": VERSION,
        "metadata": {
            "NAME": test,
            "TITLE": action.to_string(),
            "DATA_FILENAME": null,
            "HOST": report.host,
            "HOSTS": [report.host],
            "LOCAL_HOST": "netnice-measure",
            "LENGTH": length,
            "TOTAL_LENGTH": length,
            "STEP_SIZE": length / group.len().max(1) as f64,
            "TIME": time,
            "T0": time,
            "NOTE": format!("netnice-measure {}: {action}, {direction}; x is seconds of measuring", env!("CARGO_PKG_VERSION")),
            "FLENT_VERSION": "2.0.0",
            "IP_VERSION": null,
            "SERIES_META": {},
            "TEST_PARAMETERS": {},
            "FAILED_RUNNERS": 0,
        },
        "x_values": x,
        "results": { series: rates, "Ping (ms) ICMP": pings },
        "raw_values": {},
    })
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    use super::*;
    use crate::action::Direction;
    use crate::summary::tests::measured;

    #[test]
    fn another_reader_finds_every_row() {
        let mut all = vec![
            measured("reno/none", Direction::Up, 10.0, 0.0),
            measured("reno/lp8", Direction::Down, 5.0, 4.0),
        ];
        all[1].ping = Some(Latency {
            sent: 2,
            lost: 1,
            p50_ms: 1.0,
            p95_ms: 2.0,
            max_ms: 3.0,
        });
        let bytes = bytes::Bytes::from(parquet(&all).expect("written"));
        let reader = SerializedFileReader::new(bytes).expect("a file");
        let rows: Vec<_> = reader
            .get_row_iter(None)
            .expect("rows")
            .map(|row| row.expect("a row"))
            .collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1].get_string(2).expect("a name"), "reno/lp8");
        assert_eq!(rows[1].get_int(5).expect("a count"), 8);
        assert!((rows[0].get_double(10).expect("a rate") - 10.0).abs() < 1e-9);
        assert!(rows[0].get_double(15).is_err(), "no ping, no value");
        assert!((rows[1].get_double(15).expect("a ping") - 2.0).abs() < 1e-9);
    }
}
