import { buildPage } from '../../../src/tools/page/build-page.ts';

/** Suites serve the page of the sources, not of the last `npm ci`. */
export default async function setup(): Promise<void> {
  await buildPage();
}
