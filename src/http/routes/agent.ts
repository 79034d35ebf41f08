import { z } from 'zod';
import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { IDENTITY } from '../../../agent-card/identity.ts';
import { A2A_LEGACY_VERSION, A2A_VERSION } from '../../../agent-card/protocols.ts';
import { REGISTRATION_PATH, registrationFile } from '../../../agent-card/registration.ts';
import type { CardDesk } from '../../../agent-card/signed-card.ts';
import { urlAt } from '../../../agent-card/url.ts';
import { SKILLS } from '../../../skills/index.ts';
import { OracleError } from '../../errors.ts';
import { evidencePath, wagerEvidence } from '../../wager/evidence.ts';
import { DRY_RUN } from '../../wager/polymarket/dry-run-desk.ts';
import { date } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import {
  AGENT_IDENTITY,
  AGENT_REPUTATION,
  type AgentIdentity,
  type AgentReputation,
  REGISTRATION_FILE,
  type RegistrationFile,
  WAGER_EVIDENCE,
} from '../schemas/agent.ts';

/** Interface, section 2.7, and the file that the on-chain identity points to. */
export function agentRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/agent/identity',
      name: 'getAgentIdentity',
      tag: 'agent',
      reply: AGENT_IDENTITY,
      summary: 'The ERC-8004 identity of this agent, with the registries to check it in',
      handle: () => identity(parts),
    }),
    route({
      path: '/api/svc/agent/reputation',
      name: 'getAgentReputation',
      tag: 'agent',
      cost: 'rpc',
      reply: AGENT_REPUTATION,
      summary: "Outcomes of settled wagers in the ERC-8004 reputation registry, logged by the operator's own reporter",
      handle: () => reputation(parts),
    }),
    route({
      path: evidencePath('{date}'),
      name: 'getWagerEvidence',
      tag: 'agent',
      reply: WAGER_EVIDENCE,
      summary: 'What stands behind a reported outcome: the bytes that the feedback hash on chain is made of',
      params: z.object({ date }),
      errors: ['NOT_FOUND'],
      handle: ({ params }) => evidence(parts, params.date),
    }),
    route({
      path: REGISTRATION_PATH,
      name: 'getRegistrationFile',
      tag: 'agent',
      reply: REGISTRATION_FILE,
      errors: ['STEP_WAITING'],
      summary: 'ERC-8004 registration file',
      handle: () => registration(parts),
    }),
  ];
}

async function identity({ chainId, addresses, attesterAddress, ...parts }: HttpParts): Promise<Reply<AgentIdentity>> {
  const agent = parts.identity();
  return {
    body: {
      success: true,
      registered: agent !== null,
      agentId: agent?.agentId ?? null,
      chain: `eip155:${chainId}`,
      wallet: agent?.owner ?? attesterAddress,
      name: IDENTITY.name,
      description: IDENTITY.description,
      registeredAt: agent?.registeredAt?.toISOString() ?? null,
      capabilities: [...IDENTITY.capabilities],
      agentUri: agent?.agentUri ?? null,
      agentCard: await cardFacts(parts.card),
      registries: { identity: addresses.identityRegistry, reputation: addresses.reputationRegistry },
    },
  };
}

async function cardFacts(card: CardDesk): Promise<AgentIdentity['agentCard']> {
  const { publicUrl, version } = card.source;
  const { kid } = await card.current();
  return {
    url: urlAt(publicUrl, ENDPOINTS.agentCard),
    version,
    protocolVersions: [A2A_VERSION, A2A_LEGACY_VERSION],
    skills: SKILLS.map(({ id }) => id),
    keyId: kid,
    keysUrl: urlAt(publicUrl, ENDPOINTS.cardKeys),
    registrationUrl: urlAt(publicUrl, ENDPOINTS.registration),
  };
}

async function reputation(parts: HttpParts): Promise<Reply<AgentReputation>> {
  const agent = parts.identity();
  const [state, lastUpdated] = await Promise.all([parts.reputation(), parts.wagers.lastReportedAt()]);
  const totalFeedback = state?.total ?? 0;
  const positive = state?.positive ?? 0;
  const score = state?.averageScore ?? 0;
  return {
    body: {
      success: true,
      registered: agent !== null,
      agentId: agent?.agentId ?? null,
      reputation: { totalFeedback, averageScore: score },
      totalFeedback,
      positive,
      negative: totalFeedback - positive,
      score,
      lastUpdated: lastUpdated?.toISOString() ?? null,
      reporter: state?.reporter ?? null,
      venue: parts.venueName,
      disclosure: disclosureOn(parts.venueName),
    },
  };
}

function disclosureOn(venueName: string): string {
  const reporter = "Logged by the operator's own reporter wallet, one entry for each settled wager: WIN 100, LOSS 0.";
  if (venueName === 'paper')
    return `${reporter} The wagers are on paper, against quotes that the service makes itself: they prove nothing.`;
  if (venueName === DRY_RUN) return `${reporter} The wagers are on paper, filled from the order book of Polymarket: no money was staked.`;
  return reporter;
}

async function evidence({ wagers }: HttpParts, day: string): Promise<Reply<never>> {
  const wager = await wagers.reported(day);
  if (wager === null) throw new OracleError('NOT_FOUND', `No outcome of ${day} has been reported`, { field: 'date' });
  return { headers: { 'Content-Type': 'application/json' }, raw: wagerEvidence(wager).json };
}

function registration({ publicUrl, chainId, addresses, card, ...parts }: HttpParts): Reply<RegistrationFile> {
  const agent = parts.identity();
  if (agent === null) throw new OracleError('STEP_WAITING', 'The agent is not registered yet');
  return {
    body: registrationFile({
      publicUrl,
      chainId,
      registry: addresses.identityRegistry,
      agentId: agent.agentId,
      payments: card.source.payments,
    }),
  };
}
