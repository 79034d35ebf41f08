import type { ZodOpenApiMetadata } from 'zod-openapi';

export const describeParameter = (schema: object, description: string): ZodOpenApiMetadata => ({
  description,
  override: ({ jsonSchema }) => {
    for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword as keyof typeof jsonSchema];
    Object.assign(jsonSchema, schema);
  },
});
