import { translator } from "../../../shared/i18n.ts";
import { type OpenApi, refName, resolveSchema, type Schema } from "./openapi.ts";
import { Prose } from "./Prose.tsx";

type Props = { api: OpenApi; schema: Schema; depth?: number };

/** The members of a schema as a tree; what lies deeper opens on demand. */
export function SchemaView({ api, schema: given, depth = 0 }: Props) {
  const t = translator("docs");
  const schema = resolveSchema(api, given);
  const choices = realChoices(api, schema);
  if (choices.length > 1) {
    return (
      <div className="choices">
        <p className="soft">{t("oneOf")}</p>
        {choices.map((choice, index) => (
          <Branch
            // biome-ignore lint/suspicious/noArrayIndexKey: the choices of a schema never change places
            key={index}
            api={api}
            schema={choice}
            label={choiceLabel(api, choice, index)}
            depth={depth}
          />
        ))}
      </div>
    );
  }
  const only = choices[0];
  if (only) return <SchemaView api={api} schema={only} depth={depth} />;
  if (schema.allOf) {
    return schema.allOf.map((part, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a schema never change places
      <SchemaView key={index} api={api} schema={part} depth={depth} />
    ));
  }
  if (schema.items) return <SchemaView api={api} schema={schema.items} depth={depth} />;
  if (!schema.properties) {
    return typeof schema.additionalProperties === "object" ? (
      <SchemaView api={api} schema={schema.additionalProperties} depth={depth} />
    ) : null;
  }
  return (
    <ul className="members">
      {Object.entries(schema.properties).map(([name, member]) => (
        <Member
          key={name}
          api={api}
          name={name}
          schema={member}
          required={schema.required?.includes(name) ?? false}
          depth={depth}
        />
      ))}
    </ul>
  );
}

type MemberProps = { api: OpenApi; name: string; schema: Schema; required: boolean; depth: number };

function Member({ api, name, schema, required, depth }: MemberProps) {
  const t = translator("docs");
  const resolved = resolveSchema(api, schema);
  return (
    <li>
      <p className="member">
        <code className="name">{name}</code>{" "}
        <span className="kind" lang="en">
          {typeLabel(api, schema)}
        </span>
        {required && <span className="must">{t("required")}</span>}
      </p>
      {(schema.description ?? resolved.description) && (
        <Prose text={schema.description ?? resolved.description ?? ""} />
      )}
      <Limits schema={resolved} />
      {isDeep(api, schema) && depth < 8 && (
        <Branch api={api} schema={schema} label={typeLabel(api, schema)} depth={depth + 1} />
      )}
    </li>
  );
}

function Branch({ api, schema, label, depth }: { api: OpenApi; schema: Schema; label: string; depth: number }) {
  if (!isDeep(api, schema))
    return (
      <p className="kind" lang="en">
        {label}
      </p>
    );
  return (
    <details className="branch" open={depth === 0}>
      <summary lang="en">{label}</summary>
      <SchemaView api={api} schema={schema} depth={depth + 1} />
    </details>
  );
}

function Limits({ schema }: { schema: Schema }) {
  const t = translator("docs");
  const limits = [
    schema.minLength !== undefined && `≥ ${t("characters", { count: schema.minLength })}`,
    schema.maxLength !== undefined && `≤ ${t("characters", { count: schema.maxLength })}`,
    schema.minimum !== undefined && schema.minimum > -9e15 && `≥ ${schema.minimum}`,
    schema.maximum !== undefined && schema.maximum < 9e15 && `≤ ${schema.maximum}`,
    schema.minItems !== undefined && `≥ ${t("entries", { count: schema.minItems })}`,
    schema.maxItems !== undefined && `≤ ${t("entries", { count: schema.maxItems })}`,
    schema.default !== undefined && t("default", { value: JSON.stringify(schema.default) }),
    schema.pattern !== undefined && schema.pattern,
  ].filter((text) => text !== false);
  if (limits.length === 0) return null;
  return (
    <p className="limits">
      {limits.map((limit) => (
        <code key={limit}>{limit}</code>
      ))}
    </p>
  );
}

function realChoices(api: OpenApi, schema: Schema): Schema[] {
  return (schema.oneOf ?? schema.anyOf ?? []).filter((choice) => resolveSchema(api, choice).type !== "null");
}

/** Whether there are members to open. */
function isDeep(api: OpenApi, given: Schema): boolean {
  const schema = resolveSchema(api, given);
  if (schema.properties && Object.keys(schema.properties).length > 0) return true;
  if (schema.items) return isDeep(api, schema.items);
  if (typeof schema.additionalProperties === "object") return isDeep(api, schema.additionalProperties);
  return [...realChoices(api, schema), ...(schema.allOf ?? [])].some((part) => isDeep(api, part));
}

function choiceLabel(api: OpenApi, choice: Schema, index: number): string {
  const schema = resolveSchema(api, choice);
  // The member that tells the choices apart: the first with one constant value.
  const tell = Object.entries(schema.properties ?? {}).find(([, member]) => member.const !== undefined);
  if (tell) return `${tell[0]}: ${JSON.stringify(tell[1].const)}`;
  return typeLabel(api, choice) || String(index + 1);
}

/** A type in few words: `string`, `Recipient[]`, `"a" | "b"`. */
export function typeLabel(api: OpenApi, schema: Schema): string {
  if (schema.$ref !== undefined) {
    const target = resolveSchema(api, schema);
    const simple = !target.properties && !target.oneOf && !target.anyOf && !target.enum && !target.items;
    return simple ? typeLabel(api, target) : refName(schema.$ref);
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return [...new Set(choices.map((choice) => typeLabel(api, choice)))].join(" | ");
  if (schema.items) return `${typeLabel(api, schema.items)}[]`;
  const type = Array.isArray(schema.type)
    ? schema.type.join(" | ")
    : (schema.type ?? (schema.properties ? "object" : "any"));
  return schema.format ? `${type} (${schema.format})` : type;
}
