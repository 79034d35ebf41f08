import { describe, expect, it } from 'vitest';
import { nodeProblem } from '../../../bin/require-node.mjs';

describe('nodeProblem', () => {
  it.each(['24.0.0', '24.21.0', '25.1.0', '100.0.0'])('has nothing against %s', (version) => {
    expect(nodeProblem(version)).toBeUndefined();
  });

  it.each(['4.9.1', '18.20.0', '20.20.2', '23.11.1'])('with %s names the version found, the one required and its origin', (version) => {
    const problem = nodeProblem(version);
    expect(problem).toContain(`this is Node ${version}`);
    expect(problem).toContain('needs Node 24');
    expect(problem).toContain('"npm ci" without --ignore-scripts');
  });
});
