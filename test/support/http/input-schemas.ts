import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Route } from '../../../src/http/route.ts';
import { type OpenApi, operationsOf, resolved } from './openapi.ts';
import type { JsonSchema } from './reply-schema.ts';
import type { RequestField } from './request-fields.ts';

/** The schemas of requests in a document, checked by ajv as JSON Schema 2020-12. */
export function inputSchemas(document: OpenApi) {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  (addFormats as unknown as (on: Ajv2020) => void)(ajv);
  const known = new Map<string, ValidateFunction>();
  const compiled = (schema: JsonSchema): ValidateFunction => {
    const text = JSON.stringify(schema);
    const { schemas } = document.components;
    const validate = known.get(text) ?? ajv.compile({ ...(schema as object), components: { schemas } });
    known.set(text, validate);
    return validate;
  };
  const operation = ({ name }: Pick<Route, 'name'>) => operationsOf(document).find(({ operationId }) => operationId === name)!;
  const bodyOf = (route: Pick<Route, 'name'>) => resolved(document, operation(route).requestBody!.content['application/json'].schema);
  const schemaOf = ({ route, place, name }: RequestField): JsonSchema =>
    place === 'body'
      ? resolved(document, bodyOf(route).properties![name] as JsonSchema)
      : operation(route).parameters!.find((one) => one.in === place && one.name === name)!.schema;
  return {
    schemaOf,
    acceptsField: (field: RequestField, value: unknown) => compiled(schemaOf(field))(value),
    acceptsBody: (route: Pick<Route, 'name'>, body: unknown) => compiled(bodyOf(route))(body),
  };
}
