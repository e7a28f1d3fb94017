"""Graphs that several tests use, by name."""

from holdfast.sequence.graph import Graph, Vertex

ENV1 = """
    ab=a b; bc=b c; abc=ab c|a bc; cd=c d; bcd=bc d|b cd; abcd=abc d|a bcd
    ef=e f; gh=g h; ghi=gh i; efgh=ef gh; efghi=efgh i|ef ghi
    def=d ef; cdef=c def|cd ef; abcdef=abcd ef|abc def|ab cdef
    abcdefghi=abcd efghi|abcdef ghi; aba=ab a; abab=aba b|ab ab; ababab=abab ab|ab abab
    ababcd=ab abcd|aba bcd|abab cd; ababababcd=ababab abcd|abab ababcd
    ababcdefghi=ab abcdefghi|ababcd efghi
    ababababcdefghi=ababababcd efghi|abab ababcdefghi|ababab abcdefghi
"""


class Env:
    """A graph written as `name=child child|child child; …` over single-letter atoms."""

    def __init__(self, text: str, atoms: str = "") -> None:
        self.graph = Graph()
        self.ids: dict[str, Vertex] = {}
        for atom in atoms or sorted({c for c in text if c.isalpha()}):
            self.ids[atom] = self.graph.atom(atom)
        for line in text.replace("\n", ";").split(";"):
            if "=" not in line:
                continue
            name, _, patterns = line.strip().partition("=")
            runs = [self(pattern) for pattern in patterns.split("|")]
            self.ids[name] = self.graph.pattern(runs[0], name=name, strict=True)
            for run in runs[1:]:
                self.graph.add_pattern(self.ids[name], run)

    def __call__(self, names: str) -> list[Vertex]:
        return [self.ids[name] for name in names.split()]


def env1() -> Env:
    return Env(ENV1, "abcdefghi")
