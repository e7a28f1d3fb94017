"""Recorded programs of Python: modules, conditional definitions and functions in functions."""

from __future__ import annotations

PROGRAMS = {
    "imports alias relative star": """
        # --- pkg/__init__.py
        from .core import run as execute
        from .util import *
        # --- pkg/core.py
        from . import util as u
        from .util import helper as h
        def run():
            u.helper()
            # ^ calls pkg.util.helper
            h()
            # ^ calls pkg.util.helper
            u.extra()
            # ^ calls pkg.util.extra
        # --- pkg/util.py
        def helper(): ...
        def extra(): ...
        def _hidden(): ...
        # --- main.py
        import pkg
        import pkg.core as c
        from pkg import execute, extra
        pkg.execute()
        # ^ calls pkg.core.run
        execute()
        # ^ calls pkg.core.run
        extra()
        # ^ calls pkg.util.extra
        pkg.helper()
        # ^ calls pkg.util.helper
        c.run()
        # ^ calls pkg.core.run
        c.u.helper()
        # ^ calls pkg.util.helper
        """,
    "imports cycle": """
        # --- left.py
        def ping(n):
            import right
            if n:
                right.pong(n - 1)
                # ^ calls right.pong
        def base(): ...
        # --- right.py
        import left
        def pong(n):
            left.ping(n)
            # ^ calls left.ping
            left.base()
            # ^ calls left.base
        # --- main.py
        from right import pong
        pong(2)
        # ^ calls right.pong
        """,
    "imports try": """
        # --- fast.py
        def parse(): ...
        # --- main.py
        try:
            import nosuchmodule_zz as impl
        except ImportError:
            import fast as impl
        impl.parse()
        # ^ calls fast.parse
        try:
            from nosuchmodule_zz import dumps
        except ImportError:
            def dumps(x): ...
        dumps(1)
        # ^ calls main.dumps
        """,
    "imports importlib": """
        # --- plugins/__init__.py

        # --- plugins/mail.py
        def activate(): ...
        class Sender:
            def send(self): ...
        # --- main.py
        import importlib
        mail = importlib.import_module("plugins.mail")
        mail.activate()
        # ^ calls plugins.mail.activate
        mail.Sender().send()
        # ^ calls plugins.mail.Sender
        # ^ calls plugins.mail.Sender.send
        """,
    "conditional definition": """
        # --- a.py
        import sys
        if sys.version_info >= (3,):
            def text(): return "3"
        else:
            def text(): return "2"
        text()
        # ^ calls a.text
        class Holder:
            if True:
                def go(self): ...
        Holder().go()
        # ^ calls a.Holder
        # ^ calls a.Holder.go
        """,
    "recursion higher order": """
        # --- a.py
        def leaf(x): ...
        def walk(tree, visit):
            for node in tree:
                if isinstance(node, list):
                    walk(node, visit)
                    # ^ calls a.walk
                else:
                    visit(node)
                    # ^ calls a.leaf
        walk([1, [2, [3]]], leaf)
        # ^ calls a.walk
        def apply_n(f, n):
            if n:
                f(n)
                # ^ calls a.leaf
                apply_n(f, n - 1)
                # ^ calls a.apply_n
        apply_n(leaf, 2)
        # ^ calls a.apply_n
        """,
    "functions attributes": """
        # --- a.py
        def greet(): ...
        def fallback(): ...
        greet.backup = fallback
        greet.backup()
        # ^ calls a.fallback
        holder = type("H", (), {})()
        def attach(fn):
            fn.after = fallback
            return fn
        attach(greet).after()
        # ^ calls a.attach
        # ^ calls a.fallback
        f = greet if greet else fallback
        g = greet or fallback
        """,
    "nested functions deep": """
        # --- a.py
        def leaf(): ...
        def outer(cb):
            def mid():
                def inner():
                    cb()
                    # ^ calls a.leaf
                    leaf()
                    # ^ calls a.leaf
                return inner
            return mid
        outer(leaf)()()
        # ^ calls a.outer
        # ^ calls a.outer.mid
        # ^ calls a.outer.mid.inner
        fs = [outer(leaf), outer(leaf)]
        # ^ calls a.outer
        for f in fs:
            f()()
            # ^ calls a.outer.mid
            # ^ calls a.outer.mid.inner
        """,
    "module level alias": """
        # --- core/__init__.py
        from . import impl
        from .impl import Engine as _Engine
        Engine = _Engine
        start = impl.start
        # --- core/impl.py
        class Engine:
            def go(self): start()
            # ^ calls core.impl.start
        def start(): ...
        # --- main.py
        import core
        from core import Engine
        core.start()
        # ^ calls core.impl.start
        Engine().go()
        # ^ calls core.impl.Engine
        # ^ calls core.impl.Engine.go
        core.impl.start()
        # ^ calls core.impl.start
        e = core.Engine()
        # ^ calls core.impl.Engine
        e.go()
        # ^ calls core.impl.Engine.go
        """,
}
