# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# hold.pl NUMBER FILE: so many connections of this process to itself. At SIGUSR1 a byte goes over each, and FILE says how
# many arrived; it says 0 when all are there. In Perl, which is all that a small Debian has.
use strict;
use warnings;
use IO::Socket::INET;

my ($number, $file) = @ARGV;

sub say_in_file {
	open(my $out, '>', "$file.new") or die;
	print $out "$_[0]\n";
	close($out);
	rename("$file.new", $file) or die;
}

my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1024, Proto => 'tcp') or die;
my @ends;
for (1 .. $number) {
	my $one = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server->sockport, Proto => 'tcp') or die;
	push @ends, [$one, $server->accept];
}
my $requested = 0;
$SIG{USR1} = sub { $requested = 1 };
say_in_file(0);
while (1) {
	select(undef, undef, undef, 0.1);
	next unless $requested;
	my $arrived = 0;
	for my $pair (@ends) {
		my ($from, $to) = @$pair;
		my $byte;
		$arrived++ if defined(syswrite($from, 'x')) && sysread($to, $byte, 1);
	}
	$requested = 0;
	say_in_file($arrived);
}
