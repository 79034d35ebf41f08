import { describe, expect, it } from 'vitest';
import { findLargeFolders } from '../../../../src/tools/lint/folders.ts';

const files = (folder: string, count: number) => Array.from({ length: count }, (_, index) => `${folder}/${index}.ts`);

describe('findLargeFolders', () => {
  it('accepts twelve files in a folder', () => expect(findLargeFolders(files('src/a', 12))).toEqual([]));

  it('reports a folder with thirteen files', () => {
    const [finding, ...others] = findLargeFolders([...files('src/a', 13), ...files('src/b', 2)]);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ file: 'src/a', line: 1 });
    expect(finding.message).toMatch(/^13 files/);
  });

  it('counts only files directly in a folder', () => {
    expect(findLargeFolders([...files('src/a', 12), ...files('src/a/b', 12)])).toEqual([]);
  });
});
