export async function withTimeout<T>(ms: number, work: Promise<T>, createError: () => Error): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(createError()), ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
