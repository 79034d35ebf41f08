import { createHash } from 'node:crypto';
import { BUSINESS_DAY_COLUMNS, type BusinessDaySeries, getFrameLength, getLastDay, type InputFrame } from '../../forecast/input-frame.ts';
import { countUpTo } from '../series/observations.ts';

export type Hex = `0x${string}`;

/** Reused across calls: a full history takes half a megabyte, and the function never yields while it uses the buffer. */
let scratch = Buffer.alloc(1 << 19);

/** The columns of the first version, which all models read; others have digests of their own. */
const DIGEST_COLUMNS = ['close', 'fearGreed', 'realizedPrice', 'takerBuyFraction', 'fundingRate', 'gold', 'pmi'] as const;
const DOMAIN_TAG = Buffer.from('oracle-inputs-1\n', 'ascii');
const RANGES_TAG = Buffer.from('oracle-ranges-1\n', 'ascii');

/**
 * sha2-256 of the model inputs of the frame's last day t. Integers are big-endian; a day is an int32 since 1970-01-01; a value is an
 * IEEE 754 float64 with masked as `7ff8000000000000` and unsigned zero. The hashed bytes:
 *
 * 1. the 16 ASCII bytes `oracle-inputs-1\n`;
 * 2. the first day, then the row count n as uint32;
 * 3. n values of each of close, fearGreed, realizedPrice, takerBuyFraction, fundingRate, gold, pmi, column by column;
 * 4. for each of etfFlow, sp500, dxy: the count m of observations dated t-1 or earlier as uint32, their m days, their m values.
 */
export function computeInputsDigest(frame: InputFrame): Hex {
  const business = BUSINESS_DAY_COLUMNS.map((column) => sliceUpTo(frame[column], getLastDay(frame) - 1));
  const bytes = getScratchBuffer(computeEncodedLength(frame, business));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = DOMAIN_TAG.copy(bytes);
  view.setInt32(offset, frame.firstDay);
  view.setUint32(offset + 4, getFrameLength(frame));
  offset += 8;
  for (const column of DIGEST_COLUMNS) offset = writeValues(view, offset, frame[column]);
  for (const series of business) offset = writeSeries(view, offset, series);
  return `0x${createHash('sha256').update(bytes).digest('hex')}`;
}

/**
 * sha2-256 of the highs and lows that a frame adds to the inputs above, encoded alike: the 16 ASCII bytes `oracle-ranges-1\n`, the first
 * day, the row count n, n highs, n lows.
 */
export function computeRangesDigest({ firstDay, high, low }: Pick<InputFrame, 'firstDay' | 'high' | 'low'>): Hex {
  const bytes = getScratchBuffer(RANGES_TAG.length + 8 + 2 * high.length * 8);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const offset = RANGES_TAG.copy(bytes);
  view.setInt32(offset, firstDay);
  view.setUint32(offset + 4, high.length);
  writeValues(view, writeValues(view, offset + 8, high), low);
  return `0x${createHash('sha256').update(bytes).digest('hex')}`;
}

function getScratchBuffer(length: number): Buffer {
  if (scratch.length < length) scratch = Buffer.alloc(length * 2);
  return scratch.subarray(0, length);
}

function sliceUpTo(series: BusinessDaySeries, day: number): BusinessDaySeries {
  const count = countUpTo(series.days, day);
  return { days: series.days.subarray(0, count), values: series.values.subarray(0, count) };
}

function computeEncodedLength(frame: InputFrame, business: BusinessDaySeries[]): number {
  const daily = DOMAIN_TAG.length + 8 + DIGEST_COLUMNS.length * getFrameLength(frame) * 8;
  return business.reduce((sum, series) => sum + 4 + series.days.length * 12, daily);
}

function writeSeries(view: DataView, start: number, { days, values }: BusinessDaySeries): number {
  view.setUint32(start, days.length);
  let offset = start + 4;
  for (let i = 0; i < days.length; i++, offset += 4) view.setInt32(offset, days[i]);
  return writeValues(view, offset, values);
}

function writeValues(view: DataView, start: number, values: Float64Array): number {
  let offset = start;
  for (let i = 0; i < values.length; i++, offset += 8) {
    const value = values[i];
    if (Number.isNaN(value)) {
      // ECMAScript does not specify the bit pattern of a stored NaN.
      view.setUint32(offset, 0x7ff80000);
      view.setUint32(offset + 4, 0);
    } else view.setFloat64(offset, value + 0);
  }
  return offset;
}
