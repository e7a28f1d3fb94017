// References by the TypeScript compiler: node typescript_references.cjs TYPESCRIPT FOLDER QUESTIONS
// QUESTIONS is a JSON file: {"files": [...], "symbols": [[path, offset], ...], "places": [[[path,
// offset], ...], ...]} with UTF-16 offsets; "places" are what others say refers to each symbol.
// One line of JSON per symbol: {"references": [[path, offset, length], ...], "leads": ["asked" |
// "other" | "nothing", ...]}: where each of the places leads that is not a reference.
const fs = require("fs");
const path = require("path");
const [, , typescript, folder, questions] = process.argv;
const ts = require(typescript);
const { files, symbols, places } = JSON.parse(fs.readFileSync(questions, "utf8"));
const names = files.map((name) => path.join(folder, name));
const listed = new Set(names);
// Declarations beside the sources would answer in place of what they declare.
function exists(name) {
  const declares = inside(name) && /\.d\.[cm]?ts$/.test(name);
  return ts.sys.fileExists(name) && (!declares || listed.has(name));
}
const host = {
  getScriptFileNames: () => names,
  getScriptVersion: () => "1",
  getScriptSnapshot: (name) =>
    exists(name) ? ts.ScriptSnapshot.fromString(fs.readFileSync(name, "utf8")) : undefined,
  getCurrentDirectory: () => folder,
  getCompilationSettings: () => ({
    allowJs: true,
    checkJs: false,
    noEmit: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
    allowImportingTsExtensions: true,
  }),
  getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
  fileExists: exists,
  readFile: ts.sys.readFile,
  readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists,
};
const service = ts.createLanguageService(host);
const STEPS_MAX = 16;

function inside(name) {
  return name.startsWith(folder + path.sep);
}

function nodeAt(source, offset) {
  let node = source;
  for (let next = node; next; ) {
    node = next;
    next = undefined;
    ts.forEachChild(node, (child) => {
      if (!next && child.getStart(source) <= offset && offset < child.end) next = child;
    });
  }
  return node;
}

// `exports.total = total`, `exports.total = function total() {}` and `{ total: total }` give a value its own name once more.
function sameName(node) {
  const property = node.parent;
  const given = !property ? undefined
    : ts.isPropertyAssignment(property) && property.name === node ? property.initializer
    : ts.isPropertyAccessExpression(property) && property.name === node &&
      ts.isBinaryExpression(property.parent) && property.parent.left === property &&
      property.parent.operatorToken.kind === ts.SyntaxKind.EqualsToken ? property.parent.right
    : undefined;
  const name = given && (ts.isFunctionExpression(given) || ts.isClassExpression(given)) ? given.name : given;
  return name && ts.isIdentifier(name) && name.text === node.text ? name : undefined;
}

// Where a place leads, from definition to definition: to a reference of the symbol ("asked"), to
// another declaration ("other"), or to what has no declaration or no type ("nothing").
function leads(name, offset, known) {
  const program = service.getProgram();
  const checker = program.getTypeChecker();
  const seen = new Set();
  const queue = [[path.join(folder, name), offset]];
  let other = false;
  while (queue.length && seen.size < STEPS_MAX) {
    const [file, at] = queue.pop();
    const key = file + ":" + at;
    if (seen.has(key)) continue;
    seen.add(key);
    if (known.has(key)) return "asked";
    const source = program.getSourceFile(file);
    const found = service.getDefinitionAtPosition(file, at) || [];
    for (const one of found) {
      const next = one.fileName + ":" + one.textSpan.start;
      if (!inside(one.fileName)) other = true;
      else if (next !== key) queue.push([one.fileName, one.textSpan.start]);
      else {
        const node = nodeAt(source, at);
        const again = sameName(node);
        if (again) queue.push([file, again.getStart(source)]);
        else if (!(checker.getTypeAtLocation(node).flags & ts.TypeFlags.Any)) other = true;
      }
    }
  }
  return other ? "other" : "nothing";
}

for (const [index, [name, offset]] of symbols.entries()) {
  let answer = null;
  try {
    const references = [];
    const known = new Set([path.join(folder, name) + ":" + offset]);
    const groups = service.findReferences(path.join(folder, name), offset) || [];
    // Mentions of what the platform declares are not references of a member that overrides it.
    for (const group of groups.filter((each) => inside(each.definition.fileName)))
      for (const one of group.references)
        if (inside(one.fileName)) {
          references.push([path.relative(folder, one.fileName), one.textSpan.start, one.textSpan.length]);
          known.add(one.fileName + ":" + one.textSpan.start);
        }
    answer = { references, leads: places[index].map(([file, at]) => leads(file, at, known)) };
  } catch (error) {
    process.stderr.write(`${name}:${offset}: ${error}\n`);
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
