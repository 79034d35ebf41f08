/** Minor version of the running glibc 2 (36 for "2.36"); undefined for other C libraries. */
export function getGlibcMinor(): number | undefined {
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  // Otherwise the report resolves the host names of all open connections.
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } };
  const minor = /^2\.(\d+)/.exec(header.glibcVersionRuntime ?? '')?.[1];
  return minor === undefined ? undefined : Number(minor);
}
