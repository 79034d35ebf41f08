import { expect, it } from 'vitest';
import { findSection, releaseSection } from '../../../../src/tools/release/changelog.ts';

const HEAD = '# Changelog\n\nThe format.\n\n## [Unreleased]\n';
const CHANGES = '\n### Added\n\n- One.\n- Two,\n  on two lines.\n';
const OLDER = '\n## [0.9.0] - 2026-01-02\n\n### Fixed\n\n- Three.\n';

it('puts the unreleased changes under version and date, below an empty heading', () => {
  const released = releaseSection(`${HEAD}${CHANGES}${OLDER}`, '1.0.0', '2026-11-28');
  expect(released).toBe(`${HEAD}\n## [1.0.0] - 2026-11-28\n${CHANGES}${OLDER}`);
  expect(findSection(released, '1.0.0')).toBe(CHANGES.trim());
  expect(findSection(released, '0.9.0')).toBe('### Fixed\n\n- Three.');
  expect(findSection(released, '0.9')).toBeNull();
});

it('rejects a second release of the same changes', () => {
  const released = releaseSection(`${HEAD}${CHANGES}`, '1.0.0', '2026-11-28');
  expect(() => releaseSection(released, '1.0.1', '2026-11-28')).toThrow('CHANGELOG.md: lists no unreleased change');
});

it.each([
  ['lists no unreleased change', `${HEAD}\n### Added\n${OLDER}`],
  ['has no heading "## [Unreleased]"', `# Changelog\n${OLDER}`],
  ['has a section of 1.0.0 already', `${HEAD}${CHANGES}\n## [1.0.0] - 2026-01-02\n`],
])('rejects a changelog that %s', (problem, changelog) => {
  expect(() => releaseSection(changelog, '1.0.0', '2026-11-28')).toThrow(`CHANGELOG.md: ${problem}`);
});
