/** Waits for all, so that nothing goes on after an error. @throws the first error in the order of `work` */
export async function runAll(work: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(work);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
