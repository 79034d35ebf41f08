import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../support/docs/folders.ts';
import { startService } from '../../support/service/running-service.ts';
import { runSuite, summaryOf } from './suite.ts';

/** `npm run test:mcp-conformance`: runs every scenario of MCP 2026-07-28 against a service of its own; none may fail. */
const folder = await mkdtemp(join(tmpdir(), 'oracle-conformance-'));
const service = await startService({
  DATA_DIR: join(folder, 'data'),
  REPLAY_DAYS: '2',
  PROTOCOL_FIXTURES: 'test/support/protocols/fixtures.ts',
});
try {
  const run = await runSuite('2026-07-28', ['--url', `${service.url}/mcp`, '--suite', 'all', '--spec-version', '2026-07-28'], folder);
  console.log(run.code === 0 ? summaryOf(run) : run.output);
  process.exitCode = run.code;
} finally {
  service.child.kill('SIGTERM');
  await service.ended;
  await removeFolder(folder);
}
