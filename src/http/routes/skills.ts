import { ENDPOINTS } from '../../../agent-card/endpoints.ts';
import { type SkillContract, skillContracts } from '../../../agent-card/skill-contracts.ts';
import { urlAt } from '../../../agent-card/url.ts';
import { SKILLS } from '../../../skills/index.ts';
import { prepareCall } from '../../../skills/runner.ts';
import type { Skill } from '../../../skills/skill.ts';
import { weakEtag } from '../etag.ts';
import type { HttpParts } from '../parts.ts';
import { type Route, route } from '../route.ts';
import { SKILL_LIST, type SkillListReply, skillReply } from '../schemas/skills.ts';

/** What agents ask for, as operations: the list, and one call for each (interface, section 4.5). */
export function skillRoutes(parts: Pick<HttpParts, 'publicUrl' | 'carryOut'>): Route[] {
  return [listRoute(parts), ...SKILLS.map((skill) => callRoute(parts, skill))];
}

function listRoute({ publicUrl }: Pick<HttpParts, 'publicUrl'>): Route {
  let made: { body: SkillListReply; etag: string } | undefined;
  return route({
    path: ENDPOINTS.skills,
    name: 'listSkills',
    tag: 'skills',
    summary: 'Every skill with its schemas, tier, price and freshness, and the doors that it is reached through',
    reply: SKILL_LIST,
    handle() {
      made ??= listed(publicUrl);
      return { headers: { 'Cache-Control': 'public, max-age=300', ETag: made.etag }, body: made.body };
    },
  });
}

function listed(publicUrl: string): { body: SkillListReply; etag: string } {
  const contracts = new Map(skillContracts().map((contract) => [contract.id, contract]));
  const skills = SKILLS.map((skill) => listedSkill(skill, contracts.get(skill.id)!, publicUrl));
  const body = { success: true as const, skills, count: skills.length };
  return { body, etag: weakEtag(body) };
}

function listedSkill(skill: Skill, contract: SkillContract, publicUrl: string): SkillListReply['skills'][number] {
  const { id, title, summary, description, tags, examples, tier, cost } = skill;
  const { price, freshness, input: inputSchema, output: outputSchema } = contract;
  const at = (path: string) => urlAt(publicUrl, path);
  return {
    ...{
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
    },
    reachedAt: {
      rest: at(pathOf(skill)),
      task: at('/api/svc/a2a/tasks/send'),
      mcp: { url: at(ENDPOINTS.mcp), tool: id },
      a2a: { card: at(ENDPOINTS.agentCard), skill: id },
    },
  };
}

function callRoute({ carryOut }: Pick<HttpParts, 'carryOut'>, skill: Skill): Route {
  const { id, summary, description, input, tier, offering, cost, errors } = skill;
  return route({
    method: 'post',
    path: pathOf(skill),
    name: operationOf(skill),
    tag: 'skills',
    summary,
    description: `${description}\n\nThe body is the input of the skill; without a body it is empty.`,
    access: tier,
    boughtAs: offering,
    cost,
    body: input,
    bodyOptional: true,
    reply: skillReply(skill),
    errors,
    async handle({ body, caller, asker }) {
      const { output, text } = await carryOut(prepareCall(id, body, caller), asker);
      return { body: { success: true as const, skill: id, output, text } };
    },
  });
}

const pathOf = ({ id }: Skill) => `${ENDPOINTS.skills}/${id}`;

/** `runGetTrackRecord` for `get_track_record`. */
function operationOf({ id }: Skill): string {
  const words = id.split('_').map((word) => word[0].toUpperCase() + word.slice(1));
  return `run${words.join('')}`;
}
