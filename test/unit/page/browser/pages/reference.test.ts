import { expect, it } from 'vitest';
import { matchesFilter } from '../../../../../src/page/browser/pages/reference.ts';

const OPERATION = {
  method: 'get',
  path: '/api/svc/scorecard',
  operationId: 'getScorecard',
  summary: 'All forecasts of a horizon',
  description: 'Figures cover all forecasts.\n\nPublic.',
  tag: 'record',
  access: 'public',
};
const ALL = { tag: '', access: '', text: '' };

it.each([
  [{}, true],
  [{ tag: 'record', access: 'public', text: 'scorecard' }, true],
  [{ text: '  HORIZON   figures ' }, true],
  [{ text: 'get /api/svc' }, true],
  [{ text: 'scorecard csv' }, false],
  [{ tag: 'signal' }, false],
  [{ access: 'basic' }, false],
])('filter %j matches: %s', (filter, expected) => expect(matchesFilter(OPERATION, { ...ALL, ...filter })).toBe(expected));
