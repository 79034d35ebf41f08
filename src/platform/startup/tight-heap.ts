import v8 from 'node:v8';

/** Per cent by which the heap grows until the next collection; 0: as V8 decides. */
const GROWTH = { tight: 70, own: 0 };

/** For work that allocates much and keeps little, for which V8 lets the heap grow to a multiple of what is kept. */
export async function withTightHeap<Result>(work: () => Promise<Result>): Promise<Result> {
  setGrowth(GROWTH.tight);
  try {
    return await work();
  } finally {
    setGrowth(GROWTH.own);
  }
}

function setGrowth(percent: number): void {
  v8.setFlagsFromString(`--heap-growing-percent=${percent}`);
}
