import { z } from "zod";

/**
 * Records whose keys somebody else chooses: metadata, variables, values by role and field. `__proto__` and `constructor` are names
 * like any other there. Isomorphic.
 */

/** A member that the record itself has. */
export function ownMember<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

type WholeRecord<V extends z.ZodType> = z.ZodRecord<z.ZodString, V>;

/**
 * Zod's record drops the key `__proto__` without a word; this one checks it like every other key and keeps it. The rest, its
 * JSON Schema included, is zod's.
 */
const ZodWholeRecord = z.core.$constructor<z.ZodRecord>("ZodWholeRecord", (inst, def) => {
  z.ZodRecord.init(inst, def);
  const { parse } = inst._zod;
  inst._zod.parse = (payload, context) => {
    const input = payload.value;
    const result = parse(payload, context);
    // Only promises of asynchronous schemas, which ours have none of.
    if (result instanceof Promise || typeof input !== "object" || input === null) return result;
    const own = Object.getOwnPropertyDescriptor(input, "__proto__");
    const output: unknown = result.value;
    if (own === undefined || typeof output !== "object" || output === null || output === input) return result;
    const key = def.keyType._zod.run({ value: "__proto__", issues: [] }, context);
    const member = def.valueType._zod.run({ value: own.value, issues: [] }, context);
    if (key instanceof Promise || member instanceof Promise) throw new TypeError("a record's schemas are synchronous");
    if (key.issues.length > 0) {
      const issues = key.issues.map((issue) => z.core.util.finalizeIssue(issue, context, z.core.config()));
      result.issues.push({
        code: "invalid_key",
        origin: "record",
        issues,
        input: "__proto__",
        path: ["__proto__"],
        inst,
      });
    }
    result.issues.push(...z.core.util.prefixIssues("__proto__", member.issues));
    Object.defineProperty(output, "__proto__", {
      value: member.value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    return result;
  };
});

/** A JSON object with these keys and values, none of which is lost. */
export function recordOf<V extends z.ZodType>(keys: z.ZodString, values: V): WholeRecord<V> {
  // The constructor is declared for any record; what it makes has these schemas.
  return new ZodWholeRecord({ type: "record", keyType: keys, valueType: values }) as WholeRecord<V>;
}
