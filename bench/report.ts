import { cpus, totalmem } from 'node:os';
import {
  type Comparison,
  type CostComparison,
  type FigureComparison,
  type InputCost,
  type MemoryComparison,
  median,
  type RateComparison,
  type TimeComparison,
} from './benchmark.ts';

/** What the figures were measured on. */
export function machine(): string {
  const [{ model }] = cpus();
  return `${cpus().length} x ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${process.platform} ${process.arch}`;
}

const count = (value: number) => Math.round(value).toLocaleString('en-US');

const sideOf = (values: readonly number[]) => `${count(median(values))} (${count(Math.min(...values))}..${count(Math.max(...values))})`;

/** A comparison in words: medians with their range, the ratio, and whether that is what is wanted. */
export function reportOf(comparison: Comparison): string[] {
  if (comparison.kind === 'rate') return reportOfRates(comparison);
  if (comparison.kind === 'cost') return reportOfCosts(comparison);
  if (comparison.kind === 'figure') return reportOfFigure(comparison);
  return comparison.kind === 'time' ? reportOfTimes(comparison) : reportOfMemory(comparison);
}

/** Garbage collection alone moves resident memory by so much: smaller peaks count as this. */
const MEMORY_NOISE_MB = 8;
/** The kernel counts CPU time in steps of so many seconds. */
const CPU_NOISE_SECONDS = 0.01;

function reportOfCosts({ name, meaning, per, baseline, ours, maxTimes }: CostComparison): string[] {
  const unit = per === 'minute' ? 'a minute' : '1 kB';
  const amount = (cost: InputCost) => (per === 'minute' ? 1 : cost.bytes);
  const cpu = (cost: InputCost) => Math.max(cost.cpuSeconds, CPU_NOISE_SECONDS) / amount(cost);
  const memory = (cost: InputCost) => Math.max(cost.peakMb, MEMORY_NOISE_MB) / amount(cost);
  const times = [cpu(ours) / cpu(baseline), memory(ours) / memory(baseline)];
  const verdict = `goal <= ${maxTimes}: ${Math.max(...times) <= maxTimes ? 'met' : 'MISSED'}`;
  return [
    `${name}: ${meaning}`,
    `  honest    ${costLine(baseline)}`,
    `  hostile   ${costLine(ours)}`,
    `  ${unit} of hostile input costs ${times[0].toFixed(2)} x the CPU and ${times[1].toFixed(2)} x the memory of ${unit} of honest input   ${verdict}`,
  ];
}

function costLine({ requests, bytes, cpuSeconds, peakMb }: InputCost): string {
  const each = `a request: ${(cpuSeconds / requests).toFixed(5)} CPU-s, ${(peakMb / requests).toFixed(3)} MB`;
  return `${count(requests)} requests, ${(bytes / 1_000).toFixed(1)} kB sent, ${cpuSeconds.toFixed(2)} CPU-s, ${peakMb.toFixed(0)} MB at the peak; ${each}`;
}

function reportOfMemory({ what, meaning, baseline, ours, goalMb }: MemoryComparison): string[] {
  const verdict = goalMb === undefined ? 'no goal is set' : `goal <= ${count(goalMb)} MB: ${median(ours) <= goalMb ? 'met' : 'MISSED'}`;
  return [
    `resident memory of ${what}, MB, less is better`,
    `  ${meaning}`,
    `  baseline  ${sideOf(baseline)}`,
    `  ours      ${sideOf(ours)}   ${verdict}`,
  ];
}

function reportOfFigure({ what, meaning, ours, goal, digits }: FigureComparison): string[] {
  const [middle, least, most] = [median(ours), Math.min(...ours), Math.max(...ours)].map((value) => value.toFixed(digits));
  return [`${what}: ${middle} (${least}..${most})   goal <= ${goal}: ${median(ours) <= goal ? 'met' : 'MISSED'}`, `  ${meaning}`];
}

function reportOfRates({ unit, meaning, baseline, ours, goal }: RateComparison): string[] {
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

function ratioOf(ours: readonly number[], baseline: readonly number[], goal: number | undefined): string {
  const ratio = median(ours) / median(baseline);
  const verdict = goal === undefined ? '' : `   goal <= ${goal.toFixed(2)}: ${ratio <= goal ? 'met' : 'MISSED'}`;
  return `${ratio.toFixed(2)} of the time of the baseline${verdict}`;
}

function reportOfTimes({ work, meaning, baseline, ours, goalMs, goalRatio }: TimeComparison): string[] {
  const ofMs = goalMs === undefined ? '' : `   goal <= ${count(goalMs)} ms: ${median(ours) <= goalMs ? 'met' : 'MISSED'}`;
  const hasGoal = goalMs !== undefined || (goalRatio !== undefined && baseline !== null);
  return [
    `${work}, ms, median (min..max) of ${ours.length} rounds, less is better`,
    `  ${meaning}`,
    `  baseline  ${baseline === null ? 'none' : sideOf(baseline)}`,
    `  ours      ${sideOf(ours)}${hasGoal ? ofMs : '   no goal is set'}`,
    ...(baseline === null ? [] : [`  ratio     ${ratioOf(ours, baseline, goalRatio)}`]),
  ];
}
