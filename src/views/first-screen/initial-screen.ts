import { type FirstScreenData, type InitialData, PUBLIC_ACCESS } from './first-screen-data.ts';

/** The first screen as every reader gets it first: without access. @param initial null while the service starts */
export function toInitialScreen(initial: InitialData | null, horizonDays: number): FirstScreenData {
  const call = initial?.signals[`${horizonDays}d`] ?? null;
  return {
    horizonDays,
    call,
    waiting: initial === null ? 'starting' : 'none',
    range: initial?.range ?? null,
    price: initial?.price ?? null,
    record: initial?.records[`${horizonDays}d`] ?? null,
    missedDate: initial?.missedDate ?? null,
    access: PUBLIC_ACCESS,
  };
}
