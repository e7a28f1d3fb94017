"""Shell commands that print lines of one file: what is recognised, and what must not be.

The judge is the shell itself: what a recognised command prints must be what we say it prints.
"""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.cli.main import main
from holdfast.reading import shell
from holdfast.reading.scope import Lines

CWD = "/work/tree"
MISSING = ("holdfast", "less", *(one for one in ("bat", "rg") if shutil.which(one) is None))
"""Commands that cannot be run here, and ours, which has a test of its own."""

READS = [
    ("cat a.py", "a.py", Lines(1, 100)),
    ("/bin/cat a.py", "a.py", Lines(1, 100)),
    ("cat 'a b.py'", "a b.py", Lines(1, 100)),
    ('cat "a b.py" 2>/dev/null', "a b.py", Lines(1, 100)),
    ("cat /etc/motd", "/etc/motd", Lines(1, 100)),
    ("cat ./x/./a.py", "x/a.py", Lines(1, 100)),
    ("cd sub && cat a.py", "sub/a.py", Lines(1, 100)),
    ("head a.py", "a.py", Lines(1, 10)),
    ("head -40 a.py", "a.py", Lines(1, 40)),
    ("head -n 40 a.py", "a.py", Lines(1, 40)),
    ("head -n40 a.py", "a.py", Lines(1, 40)),
    ("head --lines=40 a.py", "a.py", Lines(1, 40)),
    ("head -n -40 a.py", "a.py", Lines(1, 60)),
    ("tail -5 a.py", "a.py", Lines(96, 100)),
    ("tail -n +91 a.py", "a.py", Lines(91, 100)),
    ("sed -n '10,20p' a.py", "a.py", Lines(10, 20)),
    ("sed -n 10,20p a.py", "a.py", Lines(10, 20)),
    ("sed -n -e '10,20p' a.py", "a.py", Lines(10, 20)),
    ("sed -ne '10p' a.py", "a.py", Lines(10, 10)),
    ("sed -n '95,$p' a.py", "a.py", Lines(95, 100)),
    ("sed -n '10,+4p' a.py", "a.py", Lines(10, 14)),
    ("sed -n '10,5p' a.py", "a.py", Lines(10, 10)),
    ("sed -n '10,20p;15q' a.py", "a.py", Lines(10, 15)),
    ("nl -ba a.py", "a.py", Lines(1, 100)),
    ("nl -ba a.py | sed -n '10,20p'", "a.py", Lines(10, 20)),
    ("nl -b a -w 3 -s ': ' a.py | head -5", "a.py", Lines(1, 5)),
    ("cat -n a.py | tail -n 3", "a.py", Lines(98, 100)),
    ("awk 'NR>=10 && NR<=20' a.py", "a.py", Lines(10, 20)),
    ("awk 'NR>10 && NR<20 {print}' a.py", "a.py", Lines(11, 19)),
    ("awk 'NR==7' a.py", "a.py", Lines(7, 7)),
    ("bat -p --paging=never -r 10:20 a.py", "a.py", Lines(10, 20)),
    ("less -F a.py", "a.py", Lines(1, 100)),
    ("cat a.py | head -50 | tail -n 10", "a.py", Lines(41, 50)),
    ("head -20 a.py | nl -ba", "a.py", Lines(1, 20)),
    ("sed -n '1,20p' a.py | cat -n | tail -5", "a.py", Lines(16, 20)),
    ("sed 20q a.py", "a.py", Lines(1, 20)),
    ("sed '10,20!d' a.py", "a.py", Lines(10, 20)),
    ("awk '{print NR\": \"$0}' a.py", "a.py", Lines(1, 100)),
    ("awk 'NR>=10 && NR<=20 {print NR \":\" $0}' a.py", "a.py", Lines(10, 20)),
    ("awk 'NR>=10&&NR<=20{print NR, $0}' a.py", "a.py", Lines(10, 20)),
    ("awk 'NR>=5 && NR<=9 {printf \"%4d  %s\\n\", NR, $0}' a.py", "a.py", Lines(5, 9)),
    ("awk 'NR==7{printf(\"%d\\t%s\\n\",NR,$0)}' a.py", "a.py", Lines(7, 7)),
    ("grep -n '' a.py", "a.py", Lines(1, 100)),
    ('grep -n "^" a.py | sed -n "10,20p"', "a.py", Lines(10, 20)),
    ("rg -n '' a.py", "a.py", Lines(1, 100)),
    ("rg --no-heading --color=never -n '^' a.py | head -5", "a.py", Lines(1, 5)),
    ("holdfast read a.py", "a.py", Lines(1, 100)),
    ("holdfast read a.py:10-20", "a.py", Lines(10, 20)),
    ("holdfast read --plain a.py:10-20", "a.py", Lines(10, 20)),
    ("holdfast read -n x/a.py:10-20 | head -5", "x/a.py", Lines(10, 14)),
]

OTHERS = [
    "",
    "holdfast",
    "holdfast search a.py",
    "holdfast read",
    "holdfast read a.py b.py",
    "holdfast read a.py:3-5,9-11",
    "holdfast read a.py:total",
    "holdfast read a.py --about total",
    "holdfast read --about=total a.py:10-20",
    "holdfast read a.py:9",
    "holdfast read -n --plain a.py",
    "holdfast read a.py:9-3",
    "holdfast read --no-comments a.py",
    "holdfast read --session s a.py",
    "holdfast read --offset 3 a.py",
    "holdfast read --json a.py",
    "holdfast read '@a.py'",
    "holdfast read '~/a.py'",
    "holdfast read 'a\u00a0b.py'",
    "cat x/../a.py",
    "cat /x/../a.py",
    "cat ../a.py",
    "cd x && cat ../a.py",
    "cd .. && cat a.py",
    "cat",
    "cat a.py b.py",
    "cat *.py",
    "cat $FILE",
    "cat ~/a.py",
    "cat a.py; ls",
    "cat a.py && ls",
    "cat a.py || true",
    "cat a.py &",
    "cat a.py > b",
    "cat < a.py",
    "cat `which ls`",
    "cat $(which ls)",
    'cat "$HOME/a.py"',
    "cat a.py | grep x",
    "cat a.py | head -5 a.py",
    "cat -",
    "cat -A a.py",
    "cat -s a.py",
    "./cat a.py",
    "/tmp/cat a.py",
    "X=1 cat a.py",
    "head -c 100 a.py",
    "tail -f a.py",
    "sed '10,20p' a.py",
    "sed -n '10,20p;30,40p' a.py",
    "sed -n '/x/p' a.py",
    "sed -i -n '10,20p' a.py",
    "sed -n '0,5p' a.py",
    "sed -n '10,20w out' a.py",
    "nl a.py",
    "awk '{print}' a.py",
    "awk 'NR==FNR' a.py",
    "awk 'NR==7' n=1",
    "awk 'NR>=1{system(\"x\")}' a.py",
    "tail -20 a.py | nl -ba",
    "sed -n '10,20p' a.py | cat -n",
    "head -20 a.py | nl -ba | cat -n",
    "sed 20q",
    "sed 0q a.py",
    "sed -n 20q a.py",
    "sed '10!d' x a.py",
    "awk '{print NR}' a.py",
    "awk '{print NR $0}' a.py",
    "awk '{print NR\"1\"$0}' a.py",
    "awk '{print NR\": \"$1}' a.py",
    "awk '{printf \"%d: %s\", NR, $0}' a.py",
    "awk '{printf \"%d%s\\n\", NR, $0}' a.py",
    "awk '{print FNR\": \"$0}' a.py",
    "grep '' a.py",
    "grep -n '' a.py b.py",
    "grep -rn '' a.py",
    "grep -nv '' a.py",
    "grep -n '.' a.py",
    "grep -n ''",
    "rg -n x a.py",
    "rg '' a.py",
    "git show HEAD:a.py",
    "cd a && cd b && cat c",
    "cd - && cat a.py",
    "cat a.py\nrm a.py",
    "cat a.py '|' head",
    "cat =ls",
    "cat 'a",
    "cat {a,b}.py",
    "cat a\\ b.py",
    "cat #a",
    "!cat a.py",
]


@pytest.mark.shows("READ-SHELL")
@pytest.mark.parametrize(("command", "name", "lines"), READS)
def test_a_command_that_prints_lines_of_one_file(command: str, name: str, lines: Lines) -> None:
    found = shell.parse(command, CWD)
    assert found is not None
    assert found.path == str(Path(CWD) / name)
    assert found.lines(100) == lines


@pytest.mark.shows("READ-SHELL")
@pytest.mark.parametrize("command", OTHERS)
def test_any_other_command_is_not_a_read(command: str) -> None:
    assert shell.parse(command, CWD) is None


@pytest.mark.shows("READ-SHELL")
def test_our_own_command_prints_what_is_read_from_its_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`holdfast read` in an agent's shell proved nothing, while `cat` did."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    rows = ["first", "", "  third  ", "[4]", "5 and more", "\tsix", "", "eight"]
    texts = {"a.txt": "\n".join(rows) + "\n", "b.txt": "\n".join(rows), "c.txt": "one\n\n"}
    texts["long.txt"] = "".join(f"row {n}\n" for n in range(1, 2402))
    shown = 0
    for name, text in texts.items():
        Path(name).write_text(text)
        for arguments in (
            [name],
            [f"{name}:2-6"],
            ["-n", name],
            ["-n", f"{name}:3-7"],
            ["--plain", f"{name}:2-6"],
        ):
            read = shell.parse(" ".join(["holdfast", "read", *arguments]), str(tmp_path))
            assert read is not None
            if main(["read", *arguments]) != 0:
                continue  # past the end
            out = capsys.readouterr().out
            found = read.printed(out)
            if found is None:
                continue
            first, printed = found
            shown += 1
            real = text.split("\n")[first - 1 : first - 1 + len(printed)]
            assert list(printed) == real, arguments
    assert shown == 18
    capsys.readouterr()
    ranged = shell.parse("holdfast read a.txt:1-2", "/")
    assert ranged is not None
    noted = '[note: note:x "first": holdfast memory get note:x]\n'
    assert ranged.printed(f"1 first\n2\n{noted}") == (1, ("first", ""))
    assert ranged.printed(f"1 first\n{noted}2\n") is None
    notice = shell.parse("holdfast read long.txt", "/")
    assert notice is not None
    assert notice.printed("row 1\n\n[Showing lines 1-1 of 9. Use offset=2 to continue.]\n") is None


def test_what_is_recognised_is_what_the_shell_prints(tmp_path: Path) -> None:
    texts = {
        "plain": "".join(f"line {n}\n" for n in range(1, 31)),
        "open end": "\n".join(f"  line {n}" for n in range(1, 31)),
        "blank": "\n\n\nx\n\n",
        "one": "x",
    }
    commands = [c for c, name, _ in READS if name == "a.py" and not c.startswith(MISSING)]
    for name, text in texts.items():
        (tmp_path / "a.py").write_text(text)
        rows = text.split("\n")
        if rows[-1] == "":
            rows.pop()
        (tmp_path / "x").mkdir(exist_ok=True)
        for command in commands:
            found = shell.parse(command, str(tmp_path))
            assert found is not None
            done = subprocess.run(
                ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True
            )
            printed = done.stdout.removesuffix("\n")
            assert printed == "\n".join(found.output(rows)), (name, command)
            alone = found.printed(done.stdout)
            run = found.lines(len(rows))
            if alone is not None and run is not None:
                assert alone == (run.first, tuple(rows[run.first - 1 : run.last])), command


@pytest.mark.shows("READ-SHELL")
def test_words_put_together_at_random_are_reads_only_when_the_shell_agrees(tmp_path: Path) -> None:
    rows = [f"row {n} {{" for n in range(1, 21)]
    (tmp_path / "a.py").write_text("\n".join(rows) + "\n")
    (tmp_path / "b.py").write_text("other\n")
    words = [
        *("cat", "head", "tail", "sed", "nl", "awk", "-n", "-ba", "-5", "+3", "-n5", "a.py"),
        *("a.py", "a.py", "'2,4p'", "'3,$p'", "'NR>3'", "'NR>=2 && NR<=5'", "|", "|", "head -3"),
        *("b.py", "&&", ";", "2>&1", "$X", "'a.py'", '"a.py"', "--", "-e", "\\", "''", "*"),
    ]
    recognised = 0
    for seed in range(3000):
        rng = random.Random(seed)
        command = " ".join(rng.choices(words, k=rng.randint(2, 6)))
        found = shell.parse(command, str(tmp_path))
        if found is None or recognised > 60:
            continue
        recognised += 1
        done = subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            source = rows if found.path.endswith("a.py") else ["other"]
            assert done.stdout.removesuffix("\n") == "\n".join(found.output(source)), (
                f"seed {seed}: {command}"
            )
    assert recognised > 20


@pytest.mark.parametrize(
    ("argv", "script"),
    [
        (["bash", "-lc", "cat a"], "cat a"),
        (["/bin/sh", "-c", "cat a"], "cat a"),
        (["sed", "-n", "1,5p", "a b"], "sed -n 1,5p 'a b'"),
        ([], None),
        (["bash", 3], None),
    ],
)
def test_a_script_inside_a_shell_call(argv: list[object], script: str | None) -> None:
    assert shell.unwrapped(argv) == script


@pytest.mark.shows("READ-SHELL")
def test_a_path_out_of_a_link_is_not_taken_for_its_neighbour(tmp_path: Path) -> None:
    """The kernel goes up from where a link leads, and cutting the path as a text does not: what was
    printed of one file counted as shown of another."""
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "far" / "a.py").write_text("another file\n")
    (tmp_path / "a.py").write_text("this file\n")
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    for command in ("cat link/../a.py", "cd link && cat ../a.py"):
        found = shell.parse(command, str(tmp_path))
        printed = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True)
        assert found is None or Path(found.path).read_bytes() == printed.stdout


@pytest.mark.shows("READ-SHELL")
def test_where_cd_went_elsewhere_the_output_is_not_of_that_file(tmp_path: Path) -> None:
    """With CDPATH a name may be found elsewhere; the shell then prints where."""
    for folder in ("here/sub", "there/sub"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "there/sub/a.txt").write_text("one\ntwo\n")
    environment = {"CDPATH": str(tmp_path / "there"), "PATH": os.environ["PATH"]}
    here = tmp_path / "here"
    command = "cd sub && cat a.txt"
    done = subprocess.run(
        ["bash", "-c", command], cwd=here, env=environment, capture_output=True, text=True
    )
    assert done.stdout == f"{tmp_path}/there/sub\none\ntwo\n"
    found = shell.parse(command, str(here))
    assert found is not None
    assert found.printed(done.stdout) is None
    assert found.printed("one\ntwo\n") == (1, ("one", "two"))
    plain = shell.parse("cd ./sub && cat a.txt", str(here))
    assert plain is not None
    assert plain.printed("/one\ntwo\n") == (1, ("/one", "two"))
