import { buildApp, buildPage } from '../../../src/tools/page.ts';

/** Suites serve page and MCP App of the sources, not of the last `npm ci`. */
export default async function setup(): Promise<void> {
  await buildPage();
  await buildApp();
}
