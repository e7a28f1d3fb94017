"""What we know of C, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a function of the same file": """
        // --- shop.c
        static int total(int a) { return a; }
        // ^ defines function total
        // ^ hidden
        int checkout(void) { return total(1); }
        // ^ calls total by same file
        """,
    "a function of another file, by its header": """
        // --- shop.h
        int total(int a);
        // ^ defines function total
        // --- shop.c
        #include "shop.h"
        // ^ imports shop.h:*
        int total(int a) { return a; }
        // --- main.c
        #include "shop.h"
        int main(void) { return total(1); }
        // ^ calls total by same package
        """,
    "a static function of another file is not seen": """
        // --- shop.c
        static int total(int a) { return a; }
        // --- main.c
        int main(void) { return total(1); }
        // ^ unresolved
        """,
    "two functions of one name are ambiguous": """
        // --- a/x.c
        int total(void) { return 1; }
        // --- b/x.c
        int total(void) { return 2; }
        // --- main.c
        int run(void) { return total(); }
        // ^ ambiguous total, total
        """,
    "the namesake of the same folder comes first": """
        // --- a/x.c
        int total(void) { return 1; }
        // --- b/x.c
        int total(void) { return 2; }
        // --- b/y.c
        int run(void) { return total(); }
        // ^ calls total
        """,
    "a function behind a pointer": """
        // --- shop.c
        char *name(int a) { return 0; }
        // ^ defines function name
        // ^ signature char *name(int a)
        int run(void) { name(1); return 0; }
        // ^ calls name
        """,
    "structs, unions, enums and typedefs": """
        // --- shop.c
        struct cart { int n; };
        // ^ defines struct cart
        typedef struct { int n; } Item;
        // ^ defines struct Item
        union u { int a; };
        // ^ defines union u
        enum colour { RED };
        // ^ defines enum colour
        typedef unsigned int count_t;
        // ^ defines type count_t
        """,
    "macros and constants": """
        // --- shop.c
        #define LIMIT 3
        // ^ defines constant LIMIT
        #define MAX(a, b) ((a) > (b) ? (a) : (b))
        // ^ defines macro MAX
        int run(void) { return MAX(1, 2); }
        // ^ calls MAX
        """,
    "a library function stays open": """
        // --- shop.c
        #include <stdio.h>
        // ^ imports <stdio.h>:*
        int run(void) { printf("a"); return 0; }
        // ^ unresolved
        """,
    "comments in front": """
        // --- shop.c
        /* Adds it up. */
        int total(void) { return 1; }
        // ^ doc Adds it up.
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-C")
def test_c(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 8
