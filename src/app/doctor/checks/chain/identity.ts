import { REGISTRATION_PATH } from '../../../../../agent-card/documents/registration-file.ts';
import { findRegisteredAgent } from '../../../../chain/erc8004/identity.ts';
import { createJournal } from '../../../../chain/tx/journal.ts';
import { HORIZONS } from '../../../../forecast/model.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import { requireSameSalts } from '../../../../record/commitment/require-same-salts.ts';
import { ForecastRecord } from '../../../../record/forecast-record.ts';
import { requireKnownAttestations } from '../../../startup/known-attestations.ts';
import { requireOwnDatabase } from '../../../startup/same-history.ts';
import type { Check } from '../../check.ts';
import { fail, ok, orFinding, warn } from '../../finding.ts';

/** Whether chain, database and secrets belong to one record, and whose agent it is. */
export const identityCheck: Check = {
  id: 'identity',
  title: 'Record and identity',
  needs: [
    'CHAIN_RPC_URL',
    'CHAIN_ID',
    'MONGODB_URI',
    'SALT_SECRET',
    'ATTESTER_PRIVATE_KEY',
    'ATTESTER_SIGNER',
    'IDENTITY_REGISTRY_ADDRESS',
  ],
  needsTarget: true,
  uses: ['database', 'chain'],
  async run({ config, database, roles, chain: connect }, target) {
    const [{ db }, chain] = await Promise.all([database(), connect()]);
    const attester = (await roles()).find(({ role }) => role === 'attester')!.address;
    const journal = createJournal(db);
    const isLocalChain = config.chainMode !== 'real';
    const record = new ForecastRecord({ db, saltSecret: target.saltSecret, horizons: HORIZONS });
    const permanent = { isPermanent: true };
    const checks = [
      orFinding(async () => {
        await requireOwnDatabase(chain, journal, attester);
        await requireKnownAttestations({ chain, journal, attester, isLocalChain });
        return ok('the database knows everything that the attester has attested');
      }, permanent),
      orFinding(async () => {
        await requireSameSalts(record, target.saltSecret);
        return ok('the salt secret opens what the record has committed to');
      }, permanent),
      orFinding(async () => {
        const agent = await findRegisteredAgent(chain, journal);
        if (agent === null) return ok('no agent is registered yet: the first start does it');
        const named = `agent ${agent.agentId} of ${agent.owner}`;
        if (agent.owner !== attester)
          return fail(`${named} does not belong to the attester`, { action: 'Use the key that registered the agent.', isPermanent: true });
        const uri = config.PUBLIC_URL === undefined ? agent.agentUri : joinUrl(config.PUBLIC_URL, REGISTRATION_PATH);
        if (agent.agentUri === uri) return ok(`${named}, at ${agent.agentUri}`);
        return warn(`${named} points to ${agent.agentUri}`, `The next start points it to ${uri}, by a transaction of the attester.`);
      }),
    ];
    return (await Promise.all(checks)).flat();
  },
};
