import { once } from 'node:events';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLineFilter, type RejectedLine } from '../../../../../src/transports/mcp/stdio/lines.ts';

const LARGEST_BYTES = 64 * 1024;

/** What passes and what is refused of some input, however it is cut into chunks. */
async function sifted(chunks: Buffer[]): Promise<{ passed: string; refused: RejectedLine[] }> {
  const refused: RejectedLine[] = [];
  const lines = createLineFilter((one) => refused.push(one));
  const passed: Buffer[] = [];
  lines.on('data', (chunk: Buffer) => passed.push(chunk));
  for (const chunk of chunks) lines.write(chunk);
  lines.end();
  await once(lines, 'end');
  return { passed: Buffer.concat(passed).toString('utf8'), refused };
}

const request = (id: number, method: string) => JSON.stringify({ jsonrpc: '2.0', id, method, params: {} });

it('lets messages pass as they are, and refuses the rest, wherever chunks end', async () => {
  const line = fc.oneof(
    fc.record({
      good: fc.constant(true),
      text: fc.tuple(fc.nat(), fc.string({ unit: 'grapheme' })).map(([id, method]) => request(id, method)),
    }),
    fc.record({
      good: fc.constant(false),
      text: fc.constantFrom('x', '{', '{}', '[]', 'null', '1', '"a"', '{"jsonrpc":"1.0","id":1,"method":"a"}'),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.array(fc.nat({ max: 400 }), { maxLength: 12 }), async (lines, cuts) => {
      const whole = Buffer.from(lines.map(({ text }) => `${text}\n`).join(''));
      const edges = [0, ...cuts.map((cut) => cut % (whole.length + 1)).toSorted((a, b) => a - b), whole.length];
      const { passed, refused } = await sifted(edges.slice(1).map((end, i) => whole.subarray(edges[i], end)));
      const good = lines.filter((one) => one.good);
      expect(passed).toBe(good.map(({ text }) => `${text}\n`).join(''));
      expect(refused).toHaveLength(lines.length - good.length);
    }),
  );
});

it.each([
  ['hello', -32_700, null, 'line'],
  ['[]', -32_600, null, 'batch'],
  ['{"jsonrpc":"2.0","id":"a","method":1}', -32_600, 'a', 'method'],
  [`{"jsonrpc":"2.0","id":"${'a'.repeat(101)}","method":1}`, -32_600, null, 'method'],
  ['{"jsonrpc":"2.0","id":{},"method":"a"}', -32_600, null, 'id'],
])('tells of %s what is wrong with it, and whose it is', async (line, code, id, field) => {
  const data = { code: 'INPUT_INVALID', field, suggestedAction: expect.any(String) };
  expect((await sifted([Buffer.from(`${line}\n`)])).refused).toMatchObject([{ jsonrpc: '2.0', id, error: { code, data } }]);
});

it('answers nothing to empty lines, and to none that has not ended', async () => {
  expect(await sifted([Buffer.from('\n \r\nunfinished')])).toEqual({ passed: '', refused: [] });
});

it('takes messages up to 64 KiB; a longer one is refused, and the next one read', async () => {
  const around = request(1, '').length;
  const largest = request(1, 'm'.repeat(LARGEST_BYTES - around));
  const { passed, refused } = await sifted([Buffer.from(`${largest}\n${largest}+\n${request(2, 'ping')}\n`)]);
  expect(passed).toBe(`${largest}\n${request(2, 'ping')}\n`);
  expect(refused).toMatchObject([{ error: { message: expect.stringContaining('larger than 65536 bytes') } }]);
});
