/** The minor version of the running glibc 2 ("2.36" gives 36); undefined where the C library is another one. */
export function getGlibcMinor(): number | undefined {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  // Otherwise the report looks up the host name of every open connection.
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } };
  const minor = /^2\.(\d+)/.exec(header.glibcVersionRuntime ?? '')?.[1];
  return minor === undefined ? undefined : Number(minor);
}
