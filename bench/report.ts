import { cpus, totalmem } from 'node:os';
import { type Comparison, median } from './benchmark.ts';

/** What the figures were measured on. */
export function machine(): string {
  const [{ model }] = cpus();
  return `${cpus().length} x ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${process.platform} ${process.arch}`;
}

const count = (value: number) => Math.round(value).toLocaleString('en-US');

const sideOf = (values: readonly number[]) => `${count(median(values))} (${count(Math.min(...values))}..${count(Math.max(...values))})`;

/** A comparison in words: medians with their range, the ratio, and whether that is what is wanted. */
export function reportOf({ unit, meaning, baseline, ours, goal }: Comparison): string[] {
  const ratio = median(ours) / median(baseline);
  const verdict = goal === undefined ? 'no goal is set' : `goal >= ${goal.toFixed(2)}: ${ratio >= goal ? 'met' : 'MISSED'}`;
  return [
    `${unit}, median (min..max) of ${baseline.length} rounds`,
    `  ${meaning}`,
    `  baseline  ${sideOf(baseline)}`,
    `  ours      ${sideOf(ours)}`,
    `  ratio     ${ratio.toFixed(2)}   ${verdict}`,
  ];
}
