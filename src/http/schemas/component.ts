import { z } from 'zod';

/** An object that the OpenAPI document has once, under this name. */
export const component = <S extends z.core.$ZodLooseShape>(id: string, shape: S) => z.object(shape).meta({ id });
