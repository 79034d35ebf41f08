import { buildSkillContracts } from '../../../../../agent-card/documents/skill-contracts.ts';
import { ENDPOINTS } from '../../../../../agent-card/endpoints.ts';
import { SKILLS } from '../../../../../skills/index.ts';
import { prepareCall } from '../../../../../skills/runner.ts';
import type { Skill } from '../../../../../skills/skill.ts';
import { joinUrl } from '../../../../platform/service-url.ts';
import type { HttpDeps } from '../../deps.ts';
import { toPascalCase } from '../../openapi/components/pascal-case.ts';
import { buildWeakEtag } from '../../server/replies/etag.ts';
import { type Route, route } from '../../server/route.ts';
import { buildSkillReplySchema, SKILL_LIST, type SkillListReply } from './schemas.ts';

/** Interface, section 4.5: the list of skills, and one operation per skill. */
export function skillRoutes(deps: Pick<HttpDeps, 'publicUrl' | 'runSkill'>): Route[] {
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

function callRoute({ runSkill }: Pick<HttpDeps, 'runSkill'>, skill: Skill): Route {
  const { id, summary, description, input, tier, offering, cost, errors } = skill;
  return route(`POST ${getSkillPath(skill)}`, `run${toPascalCase(id)}`, {
    tag: 'skills',
    summary,
    description: `${description}\n\nThe body is the input of the skill; a missing body is an empty input.`,
    access: tier,
    boughtAs: offering,
    variesByCaller: true,
    cost,
    body: input,
    bodyOptional: true,
    reply: buildSkillReplySchema(skill),
    errors,
    async handle({ body, caller, context }) {
      const { output, text } = await runSkill(prepareCall(id, body, caller), context);
      return { body: { success: true as const, skill: id, output, text } };
    },
  });
}

const getSkillPath = ({ id }: Skill) => `${ENDPOINTS.skills}/${id}`;
