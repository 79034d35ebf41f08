import type { z } from 'zod';
import { toSkillJsonSchema } from '../../skills/json-schema.ts';
import { formatPrice, type Skill } from '../../skills/skill.ts';
import { ENDPOINTS } from '../endpoints.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Markdown section of one skill. @param at converts a path to a URL */
export function renderSkillGuide(skill: Skill, at: (path: string) => string): string {
  const { id, title, description, freshness } = skill;
  return `### ${title}: \`${id}\`

${description}

- Price: ${formatPrice(skill)}
- Fresh: ${freshness.description}
${renderInputs(skill.input)}

${renderShellBlock(skill.examples.map(({ say, input }) => renderCall(skill, { say, input }, at)).join('\n'))}`;
}

export function renderShellBlock(lines: string): string {
  return `\`\`\`sh\n${lines}\n\`\`\``;
}

function renderInputs(schema: z.ZodObject): string {
  const { properties = {}, required = [] } = toSkillJsonSchema(schema, 'input') as JsonSchema;
  const lines = Object.entries(properties).map(([name, field]) => renderInputLine(name, field as JsonSchema, required.includes(name)));
  return lines.length === 0 ? '- Input: none' : ['- Input:', ...lines].join('\n');
}

function renderInputLine(name: string, { description, enum: options, items, default: fallback }: JsonSchema, required: boolean): string {
  const several = (items as JsonSchema | undefined)?.enum;
  const facts = [
    required ? 'required' : 'optional',
    ...(options === undefined ? [] : [`one of ${options.join(', ')}`]),
    ...(several === undefined ? [] : [`a list of ${several.join(', ')}`]),
    ...(fallback === undefined ? [] : [`default ${JSON.stringify(fallback)}`]),
  ];
  return `  - \`${name}\` (${facts.join('; ')}): ${description}`;
}

function renderCall({ id, tier }: Skill, { say, input }: Skill['examples'][number], at: (path: string) => string): string {
  const token = tier === 'public' ? '' : ' -H "Authorization: Bearer $TOKEN"';
  return `# ${say}\ncurl -X POST ${at(`${ENDPOINTS.skills}/${id}`)}${token} -H "Content-Type: application/json" -d '${JSON.stringify(input)}'`;
}
