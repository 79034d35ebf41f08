import { z } from 'zod';

type Shape = z.core.$ZodLooseShape;

/** Described schemas of objects and of lists of objects. */

export const objectOf = <S extends Shape>(description: string, shape: S) => z.object(shape).describe(description);

export const nullableObjectOf = <S extends Shape>(description: string, shape: S) => z.object(shape).nullable().describe(description);

export const listOf = <S extends Shape>(description: string, shape: S) => z.array(z.object(shape)).describe(description);

/** An object with a schema for each of these keys. */
export const keyedObject = <Key extends string, Schema extends z.ZodType>(keys: readonly Key[], schema: (key: Key) => Schema) =>
  z.object(Object.fromEntries(keys.map((key) => [key, schema(key)])) as Record<Key, Schema>);
