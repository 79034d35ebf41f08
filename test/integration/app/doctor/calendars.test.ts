import { expect, it } from 'vitest';
import type { DoctorDeps } from '../../../../src/app/doctor/check.ts';
import { calendarsCheck } from '../../../../src/app/doctor/checks/network/calendars.ts';
import { startCalendar } from '../../../support/timestamps/calendar.ts';

const examine = (calendars: string[] | undefined) =>
  calendarsCheck.run({ config: { OTS_CALENDARS: calendars } } as unknown as DoctorDeps, null as never);

it('asks each calendar for a commitment that it cannot have, and submits nothing', async () => {
  const [honest, failing] = [await startCalendar(), await startCalendar()];
  failing.state.behaviour = 'failing';
  const found = await examine([honest.url, failing.url]);
  expect(found.map(({ level, detail }) => [level, detail])).toEqual([
    ['ok', `${honest.url} answers`],
    ['warn', `${failing.url}: it answers 500`],
  ]);
  expect([honest.state, failing.state]).toMatchObject([
    { submitted: [], asked: 1 },
    { submitted: [], asked: 1 },
  ]);
  for (const { close } of [honest, failing]) await close();
});

it('asks none where none is set', async () => {
  expect(await examine(undefined)).toMatchObject([{ level: 'ok' }]);
});
