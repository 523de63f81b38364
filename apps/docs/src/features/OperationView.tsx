import { useEffect, useRef } from "react";
import { translator } from "../../../shared/i18n.ts";
import { exampleOf } from "./example.ts";
import { type Media, type OpenApi, type Operation, resolveParameter, resolveResponse } from "./openapi.ts";
import { Prose } from "./Prose.tsx";
import { SchemaView, typeLabel } from "./SchemaView.tsx";

/** One operation: what it takes, what it gives, what can go wrong. */
export function OperationView({ api, operation }: { api: OpenApi; operation: Operation }) {
  const t = translator("docs");
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another operation is another page
  useEffect(() => {
    window.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, [operation.operationId]);
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolveResponse(api, response)] as const,
  );
  const good = responses.filter(([status]) => status.startsWith("2") || status.startsWith("3"));
  const bad = responses.filter(([status]) => /^[45d]/.test(status));
  return (
    <article>
      <p className="tag" lang="en">
        {operation.tag}
      </p>
      <h1 ref={heading} tabIndex={-1} lang="en">
        {(operation.summary ?? operation.operationId).replaceAll("`", "")}
      </h1>
      <p className="route">
        <span className="method" lang="en" data-method={operation.method}>
          {operation.method}
        </span>
        <code>{operation.path}</code>
      </p>
      {operation.description && <Prose text={operation.description} />}
      <Credentials api={api} operation={operation} />
      <Parameters api={api} operation={operation} />
      {operation.requestBody && (
        <section>
          <h2>
            {t("body")} {operation.requestBody.required === false && <span className="soft">{t("bodyOptional")}</span>}
          </h2>
          {Object.entries(operation.requestBody.content).map(([type, media]) => (
            <MediaView key={type} api={api} type={type} media={media} />
          ))}
        </section>
      )}
      <section>
        <h2>{t("responses")}</h2>
        {good.map(([status, response]) => (
          <div className="response" key={status}>
            <h3>
              <span className="status">{status}</span> <span lang="en">{response.description}</span>
            </h3>
            {Object.entries(response.content ?? {}).map(([type, media]) => (
              <MediaView key={type} api={api} type={type} media={media} />
            ))}
          </div>
        ))}
      </section>
      {bad.length > 0 && (
        <section>
          <h2>{t("errors")}</h2>
          <dl className="errors">
            {bad.map(([status, response]) => (
              <div key={status}>
                <dt className="status" data-bad>
                  {status}
                </dt>
                <dd lang="en">
                  <ErrorCodes text={response.description ?? ""} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </article>
  );
}

/** Error codes link to their help pages. */
function ErrorCodes({ text }: { text: string }) {
  return text.split(/(`[^`]+`)/).map((part, index) => {
    const code = /^`([a-z]+(?:-[a-z]+)*)`$/.exec(part)?.[1];
    return code ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change places
      <a key={index} lang="en" href={`/errors/${code}`}>
        {code}
      </a>
    ) : (
      part
    );
  });
}

function Credentials({ api, operation }: { api: OpenApi; operation: Operation }) {
  const t = translator("docs");
  if (operation.isEvent) return <p className="credential">{t("event")}</p>;
  const names = (operation.security ?? api.security ?? []).flatMap((entry) => Object.keys(entry));
  return (
    <p className="credential">
      {names.length === 0 ? (
        t("noAuth")
      ) : (
        <>
          {t("credential")}:{" "}
          {names.map((name) => (
            <code key={name}>{name}</code>
          ))}
        </>
      )}
    </p>
  );
}

function Parameters({ api, operation }: { api: OpenApi; operation: Operation }) {
  const t = translator("docs");
  const parameters = (operation.parameters ?? []).map((parameter) => resolveParameter(api, parameter));
  if (parameters.length === 0) return null;
  return (
    <section>
      <h2>{t("parameters")}</h2>
      <ul className="members">
        {parameters.map((parameter) => (
          <li key={`${parameter.in} ${parameter.name}`}>
            <p className="member">
              <code className="name">{parameter.name}</code>{" "}
              <span className="place" lang="en">
                {parameter.in}
              </span>{" "}
              {parameter.schema && (
                <span className="kind" lang="en">
                  {typeLabel(api, parameter.schema)}
                </span>
              )}
              {parameter.required && <span className="must">{t("required")}</span>}
            </p>
            {(parameter.description ?? parameter.schema?.description) && (
              <Prose text={parameter.description ?? parameter.schema?.description ?? ""} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function MediaView({ api, type, media }: { api: OpenApi; type: string; media: Media }) {
  const t = translator("docs");
  const example = type.includes("json") ? exampleOf(api, media) : undefined;
  return (
    <div className="media">
      <p className="media-type">
        <code>{type}</code>{" "}
        {media.schema && (
          <span className="kind" lang="en">
            {typeLabel(api, media.schema)}
          </span>
        )}
      </p>
      <div className="media-columns">
        {media.schema && <SchemaView api={api} schema={media.schema} />}
        {example !== undefined && (
          <figure>
            <figcaption>{t("example")}</figcaption>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
            <section tabIndex={0} aria-label={t("scroll")} className="code">
              <pre>{JSON.stringify(example, null, 2)}</pre>
            </section>
          </figure>
        )}
      </div>
    </div>
  );
}
