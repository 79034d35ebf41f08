import { buildSkillContracts } from '../../../../../agent-card/documents/skill-contracts.ts';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../../../skills/index.ts';
import { isForSale } from '../../../../../skills/paid-call.ts';
import { prepareCall } from '../../../../../skills/runner.ts';
import type { Skill } from '../../../../../skills/skill.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import { REF_QUERY, SALE_ERRORS } from '../../commerce/x402/paid-route.ts';
import type { HttpDeps } from '../../deps.ts';
import { toPascalCase } from '../../openapi/components/pascal-case.ts';
import { buildWeakEtag } from '../../server/replies/etag.ts';
import { type Route, route } from '../../server/route.ts';
import { buildSkillReplySchema, SKILL_LIST, type SkillListReply } from './schemas.ts';
import { SOLD_DESCRIPTION, sellSkillAnswer } from './sell-answer.ts';
import { declareSkillOperation } from './skill-listing.ts';

type SkillRouteDeps = Pick<HttpDeps, 'publicUrl' | 'runSkill' | 'paidCalls' | 'commerce'>;

/** Interface, section 4.5: the list of skills, and one operation per skill. */
export function skillRoutes(deps: SkillRouteDeps): Route[] {
  return [listRoute(deps), ...SKILLS.map((skill) => callRoute(deps, skill))];
}

function listRoute({ publicUrl }: Pick<HttpDeps, 'publicUrl'>): Route {
  let cached: { body: SkillListReply; etag: string } | undefined;
  return route(`GET ${ENDPOINTS.skills}`, 'listSkills', {
    tag: 'skills',
    summary: 'All skills with schemas, tier, price, freshness and endpoints',
    reply: SKILL_LIST,
    handle() {
      cached ??= buildSkillList(publicUrl);
      return { headers: { 'Cache-Control': 'public, max-age=300', ETag: cached.etag }, body: cached.body };
    },
  });
}

function buildSkillList(publicUrl: string): { body: SkillListReply; etag: string } {
  const contracts = new Map(buildSkillContracts().map((contract) => [contract.id, contract]));
  const at = (path: string) => joinUrl(publicUrl, path);
  const skills = SKILLS.map((skill) => {
    const { id, title, summary, description, tags, examples, tier, cost } = skill;
    const { price, freshness, input: inputSchema, output: outputSchema } = contracts.get(id)!;
    return {
      id,
      title,
      summary,
      description,
      tags: [...tags],
      examples: [...examples],
      tier,
      price,
      freshness,
      cost,
      inputSchema,
      outputSchema,
      reachedAt: {
        rest: at(getSkillPath(skill)),
        task: at('/api/svc/a2a/tasks/send'),
        mcp: { url: at(ENDPOINTS.mcp), tool: id },
        a2a: { card: at(ENDPOINTS.agentCard), skill: id },
      },
    };
  });
  const body = { success: true as const, skills, count: skills.length };
  return { body, etag: buildWeakEtag(body) };
}

function callRoute(deps: SkillRouteDeps, skill: Skill): Route {
  const { id, summary, description, input, tier, offering, cost, errors } = skill;
  const isSold = offering !== null;
  const bazaar = isSold ? declareSkillOperation(skill) : undefined;
  return route(`POST ${getSkillPath(skill)}`, `run${toPascalCase(id)}`, {
    tag: 'skills',
    summary,
    description: `${description}\n\nThe body is the input of the skill; a missing body is an empty input.${isSold ? ` ${SOLD_DESCRIPTION}` : ''}`,
    access: tier,
    boughtAs: offering,
    isSold,
    variesByCaller: true,
    cost,
    ...(isSold && { query: REF_QUERY }),
    body: input,
    bodyOptional: true,
    reply: buildSkillReplySchema(skill),
    errors: isSold ? [...errors, ...SALE_ERRORS] : errors,
    async handle(request) {
      const { body, caller, context } = request;
      if (isForSale(skill, caller)) return sellSkillAnswer(deps, { ...request, skill, endpoint: getSkillPath(skill), bazaar });
      const { output, text } = await deps.runSkill(prepareCall(id, body, caller), context);
      return { body: { success: true as const, skill: id, output, text } };
    },
  });
}

const getSkillPath = ({ id }: Skill) => `${ENDPOINTS.skills}/${id}`;
