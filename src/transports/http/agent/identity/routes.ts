import { z } from 'zod';
import type { CardService } from '../../../../../agent-card/card/signed-card.ts';
import { buildRegistrationFile, REGISTRATION_PATH } from '../../../../../agent-card/documents/registration-file.ts';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { IDENTITY } from '../../../../../agent-card/identity.ts';
import { A2A_LEGACY_VERSION, A2A_VERSION } from '../../../../../agent-card/protocols.ts';
import { SKILLS } from '../../../../../skills/index.ts';
import type { FeedbackStateDoc } from '../../../../commerce/feedback/client-feedback-store.ts';
import { OracleError } from '../../../../platform/errors.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import { buildEvidencePath, buildWagerEvidence } from '../../../../wager/evidence.ts';
import { DRY_RUN_VENUE } from '../../../../wager/polymarket/execution/dry-run-executor.ts';
import type { HttpDeps } from '../../deps.ts';
import { dateInput } from '../../server/parsing/parameters.ts';
import { type Reply, type Route, route } from '../../server/route.ts';
import { FEEDBACK_LIST_PATH } from '../feedback/list-routes.ts';
import * as schemas from './schemas.ts';

type IdentityDeps = Pick<
  HttpDeps,
  'addresses' | 'attesterAddress' | 'card' | 'chainId' | 'clientFeedback' | 'identity' | 'publicUrl' | 'reputation' | 'venueName' | 'wagers'
>;

/** Interface, section 2.7, and the ERC-8004 registration file. */
export function agentRoutes(deps: IdentityDeps): Route[] {
  return [
    route('GET /api/svc/agent/identity', 'getAgentIdentity', {
      tag: 'agent',
      reply: schemas.AGENT_IDENTITY,
      summary: 'ERC-8004 identity of this agent',
      handle: () => readIdentity(deps),
    }),
    route('GET /api/svc/agent/reputation', 'getAgentReputation', {
      tag: 'agent',
      cost: 'rpc',
      reply: schemas.AGENT_REPUTATION,
      summary: "Outcomes of settled wagers in the ERC-8004 reputation registry, logged by the operator's own reporter",
      handle: () => readReputation(deps),
    }),
    route(`GET ${buildEvidencePath('{date}')}`, 'getWagerEvidence', {
      tag: 'agent',
      reply: schemas.WAGER_EVIDENCE,
      summary: 'Evidence of a reported outcome: the bytes behind the feedback hash on chain',
      params: z.object({ date: dateInput }),
      errors: ['NOT_FOUND'],
      handle: ({ params }) => readEvidence(deps, params.date),
    }),
    route(`GET ${REGISTRATION_PATH}`, 'getRegistrationFile', {
      tag: 'agent',
      reply: schemas.REGISTRATION_FILE,
      errors: ['STEP_WAITING'],
      summary: 'ERC-8004 registration file',
      handle: () => buildRegistration(deps),
    }),
  ];
}

async function readIdentity({ chainId, addresses, attesterAddress, ...deps }: IdentityDeps): Promise<Reply<schemas.AgentIdentity>> {
  const agent = deps.identity();
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
      agentCard: await readCardFacts(deps.card),
      registries: { identity: addresses.identityRegistry, reputation: addresses.reputationRegistry },
    },
  };
}

async function readCardFacts(card: CardService): Promise<schemas.AgentIdentity['agentCard']> {
  const { publicUrl, version } = card.source;
  const { kid } = await card.current();
  return {
    url: joinUrl(publicUrl, ENDPOINTS.agentCard),
    version,
    protocolVersions: [A2A_VERSION, A2A_LEGACY_VERSION],
    skills: SKILLS.map(({ id }) => id),
    keyId: kid,
    keysUrl: joinUrl(publicUrl, ENDPOINTS.cardKeys),
    registrationUrl: joinUrl(publicUrl, ENDPOINTS.registration),
  };
}

async function readReputation(deps: IdentityDeps): Promise<Reply<schemas.AgentReputation>> {
  const agent = deps.identity();
  const [state, lastUpdated, clients] = await Promise.all([
    deps.reputation(),
    deps.wagers.findLastReportedAt(),
    deps.clientFeedback.findState(),
  ]);
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
      venue: deps.venueName,
      disclosure: getDisclosure(deps.venueName),
      clients: toClientFigures(clients),
    },
  };
}

function toClientFigures(state: FeedbackStateDoc | null): schemas.AgentReputation['clients'] {
  return {
    throughBlock: state?.block ?? null,
    paid: state?.paid ?? { count: 0, clients: 0, revoked: 0, averageStars: null },
    unpaid: { count: state?.unpaid.given ?? 0, revoked: state?.unpaid.revoked ?? 0 },
    listPath: FEEDBACK_LIST_PATH,
  };
}

function getDisclosure(venueName: string): string {
  const reporter = "Logged by the operator's own reporter wallet, one entry for each settled wager: WIN 100, LOSS 0.";
  if (venueName === 'paper') return `${reporter} These are paper wagers against quotes of the service itself: they prove nothing.`;
  if (venueName === DRY_RUN_VENUE)
    return `${reporter} These are paper wagers, filled from the order book of Polymarket: no money was staked.`;
  return reporter;
}

async function readEvidence({ wagers }: IdentityDeps, day: string): Promise<Reply<never>> {
  const wager = await wagers.findReported(day);
  if (wager === null) throw new OracleError('NOT_FOUND', `No outcome was reported for ${day}`, { field: 'date' });
  return { headers: { 'Content-Type': 'application/json' }, raw: buildWagerEvidence(wager).json };
}

function buildRegistration({ publicUrl, chainId, addresses, card, ...deps }: IdentityDeps): Reply<schemas.RegistrationFile> {
  const agent = deps.identity();
  if (agent === null) throw new OracleError('STEP_WAITING', 'The agent is not registered yet');
  return {
    body: buildRegistrationFile({
      publicUrl,
      chainId,
      registry: addresses.identityRegistry,
      agentId: agent.agentId,
      payments: card.source.payments,
    }),
  };
}
