import module from 'node:module';
import { avoidMaglev } from './lib/compilers.mjs';

const NEEDED = 24;

/** What is wrong with a Node version, or undefined. TypeScript without a build step needs 24. */
export function nodeProblem(version) {
  if (Number.parseInt(version, 10) >= NEEDED) return undefined;
  return [
    `This program needs Node ${NEEDED} or later, and this is Node ${version}.`,
    `"npm ci" brings Node ${NEEDED} along (the "node" package), for all "npm run" and "npm start" commands.`,
    'Run "npm ci" without --ignore-scripts and without --omit=dev, then start through npm; or install Node 24 yourself.',
  ].join('\n');
}

/** Ends the process with that message when Node is too old; otherwise what is loaded from here on is compiled once, not at each start. */
export function requireNode() {
  requireNodeVersion();
  module.enableCompileCache();
}

/** The same without the compile cache, which takes 10 MB of a process for as long as it runs. */
export function requireNodeVersion() {
  const problem = nodeProblem(process.versions.node);
  if (problem === undefined) return avoidMaglev();
  console.error(problem);
  process.exit(1);
}
