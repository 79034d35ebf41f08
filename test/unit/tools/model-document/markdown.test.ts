import { expect, it } from 'vitest';
import { buildContaminationReport } from '../../../../src/forecast/backtest/contamination.ts';
import { computeFeatures } from '../../../../src/forecast/features.ts';
import { renderContaminationResults, renderWithInterval } from '../../../../src/tools/model-document.ts';
import { syntheticFrame } from '../../forecast/synthetic-frame.ts';

it('formats hundredths without negative zero', () => {
  expect(renderWithInterval({ value: 0.00174, low: -0.00322, high: 0.0068 })).toBe('0.17 (-0.32 to 0.68)');
  expect(renderWithInterval({ value: -0.00001, low: -0.00004, high: 0 })).toBe('0.00 (0.00 to 0.00)');
  expect(renderWithInterval({ value: -0.00006, low: null, high: null })).toBe('-0.01');
});

it('marks calls equal to always UP', () => {
  const frame = syntheticFrame({ rows: 1700 });
  const report = buildContaminationReport({ frame, features: computeFeatures(frame), pointInTime: [], vintages: 'made' });
  const horizons = report.horizons.map((one) => ({ ...one, preEtf: { ...one.preEtf, downs: 0 }, postEtf: { ...one.postEtf, downs: 1 } }));
  const rows = renderContaminationResults({ ...report, horizons }).split('\n');
  const cellsOf = (start: string) => rows.filter((row) => row.includes(start)).map((row) => row.split('|')[6].trim());
  expect(cellsOf('before 2024')).toEqual(new Array(4).fill('same calls'));
  expect(cellsOf('since 2024')).not.toContain('same calls');
});
