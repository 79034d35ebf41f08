import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join, resolve } from 'node:path';
import { printHelpIfAsked } from '../lib/help.mjs';
import { STRIPPED, strippedName } from '../service/stripped-types.mjs';

printHelpIfAsked('Usage: npm run build:types\n\nStrips the types of the sources, which saves a process the memory of the stripper.');

const ROOT = resolve(import.meta.dirname, '../..');

// The stripper is a release candidate, which Node says as a warning.
process.removeAllListeners('warning');
rmSync(STRIPPED, { recursive: true, force: true });
mkdirSync(STRIPPED, { recursive: true });
for (const file of globSync('{src,skills,agent-card}/**/*.ts', { cwd: ROOT, exclude: ['src/dashboard', 'src/tools'] })) {
  const source = readFileSync(join(ROOT, file));
  writeFileSync(join(STRIPPED, strippedName(source)), stripTypeScriptTypes(source.toString()));
}
