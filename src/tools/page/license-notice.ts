import { readFile } from 'node:fs/promises';

const PACKAGE = /^(?:.*\/)?node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//;

/** A comment that names each bundled package with its license and copyright; empty without any. */
export async function readLicenseNotice(root: string, inputs: readonly string[]): Promise<string> {
  const folders = new Set(inputs.flatMap((path) => PACKAGE.exec(path)?.[0] ?? []));
  const lines = await Promise.all([...folders].sort().map((folder) => describePackage(`${root}${folder}`)));
  return lines.length === 0 ? '' : `/*! ${lines.join('; ')} */\n`;
}

async function describePackage(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(`${folder}package.json`, 'utf8')) as Record<string, string>;
  const text = await readFile(`${folder}LICENSE`, 'utf8').catch(() => '');
  const copyright = /^.*Copyright \(c\).*$/im.exec(text)?.[0].trim() ?? '';
  return [`${name} ${version}`, `${license} License`, copyright].filter((part) => part !== '').join(', ');
}
