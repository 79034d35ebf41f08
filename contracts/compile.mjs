/**
 * Compiles the Solidity files of this folder with the pinned `solc` and OpenZeppelin packages, offline, to
 * `compiled/<Name>.json`: `{ contractName, abi, bytecode }`, and those of `examples` and `test-only` to folders of the same names
 * there; `eas/` has those of the Ethereum Attestation Service, as its package has them. `npm run contracts` writes the files;
 * `compileAll()` and `readEas()` only return their text, so that a test can compare the committed files.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

const FOLDER = import.meta.dirname;
const require = createRequire(import.meta.url);

const SETTINGS = {
  evmVersion: 'prague',
  optimizer: { enabled: true, runs: 200 },
  // Without it, the bytecode would change with every comment.
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
};

/** Source of an import: a contract of this folder, or one such as `@openzeppelin/contracts/...` from node_modules. */
function readImport(path) {
  if (!path.startsWith('@')) return { contents: readFileSync(join(FOLDER, path), 'utf8') };
  const [scope, name, ...rest] = path.split('/');
  const root = dirname(require.resolve(`${scope}/${name}/package.json`));
  return { contents: readFileSync(join(root, ...rest), 'utf8') };
}

/** The contracts of this folder, or of one in it, as `{ [name]: JSON text }`, in the order of their names. */
export function compileAll(subfolder = '') {
  const solc = require('solc');
  const folder = join(FOLDER, subfolder);
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.sol'))
    .sort();
  const sources = Object.fromEntries(names.map((name) => [join(subfolder, name), { content: readFileSync(join(folder, name), 'utf8') }]));
  const input = JSON.stringify({ language: 'Solidity', sources, settings: SETTINGS });
  const output = JSON.parse(solc.compile(input, { import: readImport }));
  const errors = (output.errors ?? []).filter((error) => error.severity === 'error' || error.type === 'Warning');
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'));
  return Object.fromEntries(
    names.map((file) => {
      const contractName = file.replace('.sol', '');
      const { abi, evm } = output.contracts[join(subfolder, file)][contractName];
      return [contractName, `${JSON.stringify({ contractName, abi, bytecode: `0x${evm.bytecode.object}` })}\n`];
    }),
  );
}

/** The contracts of the Ethereum Attestation Service that a local chain runs, and their licence, as `{ [file]: text }`. */
export function readEas() {
  const root = dirname(require.resolve('@ethereum-attestation-service/eas-contracts/package.json'));
  const artifacts = ['EAS', 'SchemaRegistry'].map((name) => {
    const { contractName, abi, bytecode } = JSON.parse(readFileSync(join(root, `artifacts/contracts/${name}.sol/${name}.json`), 'utf8'));
    return [`${name}.json`, `${JSON.stringify({ contractName, abi, bytecode })}\n`];
  });
  return { ...Object.fromEntries(artifacts), LICENSE: readFileSync(join(root, 'LICENSE'), 'utf8') };
}

function write(subfolder, files) {
  const target = join(FOLDER, 'compiled', subfolder);
  mkdirSync(target, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(target, name), text);
    console.log(`${name}: ${text.length} characters`);
  }
}

if (process.argv[1] && resolve(process.argv[1]) === import.meta.filename) {
  for (const subfolder of ['', 'examples', 'test-only']) {
    const compiled = Object.entries(compileAll(subfolder));
    write(subfolder, Object.fromEntries(compiled.map(([name, text]) => [`${name}.json`, text])));
  }
  write('eas', readEas());
}
