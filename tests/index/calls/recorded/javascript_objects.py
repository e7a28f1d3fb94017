"""Recorded programs of JavaScript: objects, prototypes and classes."""

from __future__ import annotations

PROGRAMS = {
    "prototype chain": """
        // --- a.js
        function Animal(name) { this.name = name; }
        Animal.prototype.speak = function () { return this.sound(); };
        // ^ calls a.Animal.sound
        Animal.prototype.sound = function () { return "..."; };
        function Dog(name) { Animal.call(this, name); }
        // ^ calls a.Animal
        Dog.prototype = Object.create(Animal.prototype);
        Dog.prototype.constructor = Dog;
        Dog.prototype.fetch = function () { this.speak(); };
        // ^ calls a.Animal.speak
        const d = new Dog("rex");
        // ^ calls a.Dog
        d.speak();
        // ^ calls a.Animal.speak
        d.fetch();
        // ^ calls a.Dog.fetch
        """,
    "prototype object": """
        // --- a.js
        function Stack() { this.items = []; }
        Stack.prototype = {
          push: function (x) { this.items.push(x); this.changed(); },
          // ^ calls a.Stack.changed
          changed() {},
        };
        Stack.of = function () { return new Stack(); };
        // ^ calls a.Stack
        const s = Stack.of();
        // ^ calls a.Stack.of
        s.push(1);
        // ^ calls a.Stack.push
        """,
    "getters setters": """
        // --- a.js
        function note(v) {}
        class Temp {
          constructor() { this._c = 0; }
          get fahrenheit() { return this.convert(); }
          // ^ calls a.Temp.convert
          set celsius(v) { note(v); this._c = v; }
          // ^ calls a.note
          convert() { return this._c; }
        }
        const t = new Temp();
        // ^ calls a.Temp.constructor
        t.celsius = 4;
        // ^ calls a.Temp.celsius
        t.fahrenheit;
        // ^ calls a.Temp.fahrenheit
        const o = { get size() { return measure(); } };
        // ^ calls a.measure
        function measure() { return 2; }
        const n = o.size;
        // ^ calls a.o.size
        """,
    "class super": """
        // --- a.js
        class A {
          constructor(x) { this.init(x); }
          // ^ calls a.A.init
          // ^ calls a.B.init
          init() {}
          static make() { return new this(1); }
          // ^ calls a.A.constructor
          // ^ calls a.B.constructor
          toString() { return "a"; }
        }
        class B extends A {
          constructor() { super(2); this.ready(); }
          // ^ calls a.A.constructor
          // ^ calls a.B.ready
          init() { super.init(); }
          // ^ calls a.A.init
          ready() {}
          static make() { return super.make(); }
          // ^ calls a.A.make
        }
        new B().init();
        // ^ calls a.B.constructor
        // ^ calls a.B.init
        B.make();
        // ^ calls a.B.make
        A.make();
        // ^ calls a.A.make
        """,
    "class fields arrow": """
        // --- a.js
        class Button {
          handlers = [];
          onClick = () => { this.fire(); };
          // ^ calls a.Button.fire
          static count = start();
          // ^ calls a.start
          fire() { this.handlers.forEach((h) => h()); }
          // ^ calls a.pressed
          add(h) { this.handlers.push(h); return this; }
        }
        function start() { return 0; }
        function pressed() {}
        const b = new Button();
        // ^ calls a.Button
        b.add(pressed).onClick();
        // ^ calls a.Button.add
        // ^ calls a.Button.onClick
        """,
    "computed members": """
        // --- a.js
        const KEY = "go";
        function act() {}
        const table = { [KEY]: act, "x-y": act, stop: () => {} };
        table[KEY]();
        // ^ calls a.act
        table["x-y"]();
        // ^ calls a.act
        table["stop"]();
        // ^ calls a.table.stop
        class C { ["run"]() {} static ["of"]() { return new C(); } }
        // ^ calls a.C
        new C().run();
        // ^ calls a.C
        // ^ calls a.C.run
        C.of()["run"]();
        // ^ calls a.C.of
        // ^ calls a.C.run
        """,
    "mixins": """
        // --- a.js
        const Flying = (Base) => class extends Base { fly() { this.move(); } };
        // ^ calls a.Body.move
        class Body { move() {} }
        class Bird extends Flying(Body) { sing() { this.fly(); } }
        // ^ calls a.Flying
        // ^ calls a.Flying.fly
        new Bird().sing();
        // ^ calls a.Bird
        // ^ calls a.Bird.sing
        new Bird().fly();
        // ^ calls a.Bird
        // ^ calls a.Flying.fly
        const canSwim = { swim() { this.dive(); }, dive() {} };
        // ^ calls a.canSwim.dive
        class Fish {}
        Object.assign(Fish.prototype, canSwim);
        new Fish().swim();
        // ^ calls a.Fish
        // ^ calls a.canSwim.swim
        """,
    "event emitter own": """
        // --- a.js
        class Emitter {
          constructor() { this.map = {}; }
          on(name, fn) { (this.map[name] = this.map[name] || []).push(fn); return this; }
          emit(name, ...args) { (this.map[name] || []).forEach((fn) => fn(...args)); }
          // ^ calls a.bye
          // ^ calls a.hello
        }
        function hello() {}
        function bye() {}
        const e = new Emitter();
        // ^ calls a.Emitter.constructor
        e.on("a", hello).on("b", bye);
        // ^ calls a.Emitter.on
        e.emit("a");
        // ^ calls a.Emitter.emit
        e.emit("b");
        // ^ calls a.Emitter.emit
        """,
    "event emitter node": """
        // --- a.js
        const { EventEmitter } = require("events");
        class Server extends EventEmitter {
          start() { this.emit("up", 1); }
          // ^ calls a.Server.onUp
          bind() { this.on("up", this.onUp); }
          onUp() { finish(); }
          // ^ calls a.finish
        }
        function finish() {}
        const s = new Server();
        // ^ calls a.Server
        s.bind();
        // ^ calls a.Server.bind
        s.start();
        // ^ calls a.Server.start
        """,
    "maps sets": """
        // --- a.js
        function one() {}
        function two() {}
        const m = new Map([["a", one]]);
        m.set("b", two);
        m.get("a")();
        // ^ calls a.one
        m.get("b")();
        // ^ calls a.two
        for (const f of m.values()) f();
        // ^ calls a.one
        // ^ calls a.two
        m.forEach((f) => f());
        // ^ calls a.one
        // ^ calls a.two
        const s = new Set([one]);
        s.add(two);
        for (const f of s) f();
        // ^ calls a.one
        // ^ calls a.two
        """,
    "object create and this": """
        // --- a.js
        const proto = { hi() { return this.name(); }, name() { return "p"; } };
        // ^ calls a.proto.name
        const child = Object.create(proto);
        child.extra = function () { this.hi(); };
        // ^ calls a.proto.hi
        child.hi();
        // ^ calls a.proto.hi
        child.extra();
        // ^ calls a.child.extra
        const copy = Object.assign({}, proto, { more() {} });
        copy.more();
        // ^ calls a.more
        copy.hi();
        // ^ calls a.proto.hi
        """,
    "static registry": """
        // --- a.js
        class Registry {
          static items = new Map();
          static register(k, C) { Registry.items.set(k, C); }
          static create(k) { const C = this.items.get(k); return new C(); }
          // ^ calls a.Foo.constructor
        }
        class Foo { constructor() { this.boot(); } boot() {} }
        // ^ calls a.Foo.boot
        Registry.register("foo", Foo);
        // ^ calls a.Registry.register
        Registry.create("foo");
        // ^ calls a.Registry.create
        """,
    "symbols and tags": """
        // --- a.js
        const run = Symbol("run");
        class Task { [run]() { work(); } go() { this[run](); } }
        // ^ calls a.Task.[run]
        // ^ calls a.work
        function work() {}
        new Task().go();
        // ^ calls a.Task
        // ^ calls a.Task.go
        function tag(strings, ...vals) { return vals[0](); }
        // ^ calls a.work
        tag`x${work}`;
        // ^ calls a.tag
        new (class { start() { work(); } })().start();
        // ^ calls a.start
        // ^ calls a.work
        """,
    "observer": """
        // --- a.js
        class Subject {
          constructor() { this.obs = []; }
          attach(o) { this.obs.push(o); }
          notify(e) { for (const o of this.obs) o.update(e); }
          // ^ calls a.View.update
        }
        class View { update() { this.draw(); } draw() {} }
        // ^ calls a.View.draw
        const s = new Subject();
        // ^ calls a.Subject.constructor
        s.attach(new View());
        // ^ calls a.Subject.attach
        // ^ calls a.View
        s.notify(1);
        // ^ calls a.Subject.notify
        """,
    "emitter with arrays": """
        // --- a.js
        function Emitter() { this.events = {}; }
        Emitter.prototype.on = function (n, fn) {
          if (!this.events[n]) this.events[n] = [];
          this.events[n].push(fn);
        };
        Emitter.prototype.emit = function (n) {
          const list = this.events[n];
          for (let i = 0; i < list.length; i++) list[i]();
          // ^ calls a.hi
        };
        function hi() {}
        const e = new Emitter();
        // ^ calls a.Emitter
        e.on("x", hi);
        // ^ calls a.Emitter.on
        e.emit("x");
        // ^ calls a.Emitter.emit
        """,
    "factory and dispose": """
        // --- a.js
        function createStore(reducer) {
          let state;
          const subs = [];
          function getState() { return state; }
          function dispatch(a) { state = reducer(state, a); subs.forEach((s) => s()); }
          // ^ calls a.changed
          // ^ calls a.reduce
          const subscribe = (s) => { subs.push(s); return () => {}; };
          return { getState, dispatch, subscribe };
        }
        function reduce(s, a) { return s; }
        function changed() {}
        const store = createStore(reduce);
        // ^ calls a.createStore
        store.subscribe(changed);
        // ^ calls a.createStore.subscribe
        store.dispatch({});
        // ^ calls a.createStore.dispatch
        store.getState();
        // ^ calls a.createStore.getState
        """,
    "class private static": """
        // --- a.js
        class Counter {
          static #made = 0;
          #n = 0;
          static create() { Counter.#bump(); return new Counter(); }
          // ^ calls a.Counter
          // ^ calls a.Counter.#bump
          static #bump() { Counter.#made++; }
          inc() { this.#add(1); return this; }
          // ^ calls a.Counter.#add
          #add(k) { this.#n += k; }
          get value() { return this.#read(); }
          // ^ calls a.Counter.#read
          #read() { return this.#n; }
        }
        const c = Counter.create().inc().inc();
        // ^ calls a.Counter.create
        // ^ calls a.Counter.inc
        c.value;
        // ^ calls a.Counter.value
        """,
    "inherit util": """
        // --- a.js
        const util = require("util");
        function Base() { this.init(); }
        // ^ calls a.Base.init
        Base.prototype.init = function () {};
        Base.prototype.run = function () { return this.step(); };
        // ^ calls a.Base.step
        Base.prototype.step = function () {};
        function Child() { Base.call(this); }
        // ^ calls a.Base
        util.inherits(Child, Base);
        Child.prototype.extra = function () { this.run(); };
        // ^ calls a.Base.run
        new Child().extra();
        // ^ calls a.Child
        // ^ calls a.Child.extra
        """,
    "getter chain and setter": """
        // --- a.js
        class Engine { start() { this.on = true; } }
        class Car {
          get engine() { return this._e || (this._e = new Engine()); }
          // ^ calls a.Engine
          set speed(v) { this.check(v); }
          // ^ calls a.Car.check
          check() {}
        }
        const car = new Car();
        // ^ calls a.Car
        car.engine.start();
        // ^ calls a.Car.engine
        // ^ calls a.Engine.start
        car.speed = 3;
        // ^ calls a.Car.speed
        """,
    "object methods shorthand": """
        // --- a.js
        const make = (name) => ({
          name,
          hi() { return this.name; },
          loud: () => shout(name),
          // ^ calls a.shout
          nested: { deep() { return shout(name); } },
          // ^ calls a.shout
        });
        function shout(s) { return s; }
        const o = make("x");
        // ^ calls a.make
        o.hi();
        // ^ calls a.make.hi
        o.loud();
        // ^ calls a.make.loud
        o.nested.deep();
        // ^ calls a.make.deep
        const { hi, loud } = make("y");
        // ^ calls a.make
        loud();
        // ^ calls a.make.loud
        """,
}
