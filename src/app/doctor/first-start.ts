import { OracleError } from '../../platform/errors.ts';
import type { DoctorDeps } from './check.ts';
import { contractsCheck } from './checks/chain/contracts.ts';
import { rpcCheck } from './checks/chain/rpc.ts';
import { walletsCheck } from './checks/chain/wallets.ts';
import { clockCheck } from './checks/clock.ts';
import { databaseCheck } from './checks/database.ts';
import { runDoctor } from './run-doctor.ts';

const CHECKS = [walletsCheck, rpcCheck, contractsCheck, databaseCheck, clockCheck];

/** Before the first transaction of a record on a real chain, which is permanent. @throws OracleError CONFIG_INVALID with all that cannot be repaired later */
export async function requireReadyForFirstStart(deps: Omit<DoctorDeps, 'problems' | 'isSet' | 'ntpHost'>): Promise<void> {
  const report = await runDoctor({ ...deps, problems: [], isSet: () => true, ntpHost: null }, CHECKS);
  const faults = report.checks.flatMap(({ title, findings }) =>
    findings.filter(({ level, isPermanent }) => level === 'fail' && isPermanent).map((finding) => ({ title, ...finding })),
  );
  if (faults.length === 0) return;
  const lines = faults.map(({ title, detail, action }) => `${title}: ${detail}${action === null ? '' : `\n    -> ${action}`}`);
  throw new OracleError('CONFIG_INVALID', `The record cannot begin, since this cannot be repaired later:\n  ${lines.join('\n  ')}`, {
    suggestedAction: 'Repair it, and see what else npm run doctor finds.',
  });
}
