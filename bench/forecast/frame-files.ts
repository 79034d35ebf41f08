import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS, type InputFrame } from '../../src/forecast/input-frame.ts';

/** Writes a frame for other languages to read: `frame.json`, and a file of little-endian float64 a column. */
export async function writeFrame(folder: string, frame: InputFrame): Promise<void> {
  const columns: Record<string, ArrayLike<number>> = {};
  for (const name of DAILY_COLUMNS) columns[name] = frame[name];
  for (const name of BUSINESS_DAY_COLUMNS) {
    columns[name] = frame[name].values;
    columns[`${name}.days`] = frame[name].days;
  }
  const manifest = { firstDay: frame.firstDay, columns: Object.keys(columns) };
  await Promise.all([
    writeFile(join(folder, 'frame.json'), JSON.stringify(manifest)),
    ...Object.entries(columns).map(([name, values]) => writeFile(join(folder, `${name}.f64`), bytesOf(values))),
  ]);
}

function bytesOf(values: ArrayLike<number>): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (let index = 0; index < values.length; index++) bytes.writeDoubleLE(values[index], index * 8);
  return bytes;
}
