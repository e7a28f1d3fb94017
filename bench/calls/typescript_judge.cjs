// node typescript_judge.cjs TYPESCRIPT FOLDER FILE…: for every call, what the compiler says it reaches.
// One line of JSON for each file: {path, calls: [[start byte, name, [[path, line, kind]…]]…]}.
const [, , typescript, folder, list] = process.argv;
const ts = require(typescript);
const fs = require("fs");
const path = require("path");

const files = JSON.parse(fs.readFileSync(list, "utf8")).map((file) => path.join(folder, file));
const options = {
  allowJs: true, checkJs: true, noEmit: true, skipLibCheck: true, strict: true, noLib: false,
  target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, types: [],
  moduleResolution: ts.ModuleResolutionKind.Bundler, allowImportingTsExtensions: true,
  experimentalDecorators: true, jsx: ts.JsxEmit.Preserve,
};
const program = ts.createProgram(files, options);
const checker = program.getTypeChecker();

function byteOffsets(text) {
  if (!/[^\x00-\x7f]/.test(text)) return (at) => at;
  const table = new Uint32Array(text.length + 1);
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    table[i] = bytes;
    const code = text.charCodeAt(i);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code >= 0xd800 && code < 0xe000 ? 2 : 3;
  }
  table[text.length] = bytes;
  return (at) => table[at];
}

function kindOf(declaration) {
  if (ts.isClassLike(declaration)) return "class";
  if (ts.isFunctionLike(declaration)) return "function";
  const value = declaration.initializer || (ts.isBinaryExpression(declaration) && declaration.right) ||
    (declaration.parent && ts.isBinaryExpression(declaration.parent) && declaration.parent.right);
  let inner = value;
  while (inner && (ts.isParenthesizedExpression(inner) || ts.isAsExpression(inner))) inner = inner.expression;
  if (inner && (ts.isArrowFunction(inner) || ts.isFunctionExpression(inner))) return "function";
  if (inner && ts.isClassExpression(inner)) return "class";
  return "other";
}

function reached(name) {
  let symbol = checker.getSymbolAtLocation(name);
  if (!symbol) return [];
  if (symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  return (symbol.declarations || []).map((declaration) => {
    const source = declaration.getSourceFile();
    const at = (declaration.name || declaration).getStart(source);
    const line = source.getLineAndCharacterOfPosition(at).line + 1;
    return [path.relative(folder, source.fileName), line, kindOf(declaration)];
  });
}

for (const file of files) {
  const source = program.getSourceFile(file);
  if (!source) continue;
  const offset = byteOffsets(source.text);
  const calls = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      let callee = node.expression;
      while (ts.isParenthesizedExpression(callee) || ts.isNonNullExpression(callee)) callee = callee.expression;
      const name = ts.isPropertyAccessExpression(callee) ? callee.name
        : ts.isIdentifier(callee) ? callee : null;
      if (name) calls.push([offset(node.getStart(source)), name.text, reached(name)]);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  console.log(JSON.stringify({ path: path.relative(folder, file), calls }));
}
