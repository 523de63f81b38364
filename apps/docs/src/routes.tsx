import { Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState, useSyncExternalStore } from "react";
import { translator } from "../../shared/i18n.ts";
import { Brand } from "../../shared/ui/Brand.tsx";
import { Failure } from "../../shared/ui/Failure.tsx";
import { OperationView } from "./features/OperationView.tsx";
import { loadOpenApi, type OpenApi, type Operation, operationsOf } from "./features/openapi.ts";
import { Prose } from "./features/Prose.tsx";

function subscribe(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}

/** The API reference: one operation a page, named by the fragment. */
export function Docs() {
  const t = translator("docs");
  const hash = useSyncExternalStore(subscribe, () => decodeURIComponent(window.location.hash.slice(1)));
  const api = useQuery({ queryKey: ["openapi"], queryFn: ({ signal }) => loadOpenApi(signal) });
  const operations = useMemo(() => (api.data ? operationsOf(api.data) : []), [api.data]);
  const operation = operations.find((one) => one.operationId === hash);
  return (
    <>
      <button type="button" className="skip" onClick={() => document.getElementById("content")?.focus()}>
        {translator("common")("skipToContent")}
      </button>
      <header className="bar docs-bar">
        <Brand href="/" />
        <span className="soft">{t("title")}</span>
      </header>
      <div className="docs">
        <Navigation operations={operations} current={hash} />
        <main id="content" tabIndex={-1}>
          {api.isPending && <Loader aria-label={translator("common")("loading")} />}
          {api.isError && (
            <>
              <h1>{t("trouble")}</h1>
              <Failure error={api.error} />
            </>
          )}
          {api.data &&
            (operation ? <OperationView api={api.data} operation={operation} /> : <Overview api={api.data} />)}
        </main>
      </div>
    </>
  );
}

function Navigation({ operations, current }: { operations: Operation[]; current: string }) {
  const t = translator("docs");
  const [query, setQuery] = useState("");
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = operations.filter((operation) => {
    const text = `${operation.method} ${operation.path} ${operation.summary ?? ""} ${operation.operationId} ${operation.tag}`;
    return words.every((word) => text.toLowerCase().includes(word));
  });
  const groups = Map.groupBy(found, (operation) => operation.tag);
  return (
    <nav aria-label={t("operations")}>
      <input
        type="search"
        placeholder={t("search")}
        aria-label={t("search")}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
      />
      <p className="spoken" aria-live="polite">
        {query && t("results", { count: found.length })}
      </p>
      {found.length === 0 && operations.length > 0 && <p className="soft">{t("nothing")}</p>}
      <div className="groups">
        <a href="#overview" aria-current={current === "" || current === "overview" ? "page" : undefined}>
          {t("overview")}
        </a>
        {[...groups].map(([tag, members]) => (
          <details key={tag} open={words.length > 0 || members.some((one) => one.operationId === current) || undefined}>
            <summary lang="en">
              {tag} <span className="soft">{members.length}</span>
            </summary>
            <ul>
              {members.map((operation) => (
                <li key={operation.operationId}>
                  <a
                    lang="en"
                    href={`#${operation.operationId}`}
                    aria-current={operation.operationId === current ? "page" : undefined}
                  >
                    {operation.isEvent ? (
                      <code>{operation.path}</code>
                    ) : (
                      <>
                        <span className="method" data-method={operation.method}>
                          {operation.method}
                        </span>
                        <span>{(operation.summary ?? operation.path).replaceAll("`", "")}</span>
                      </>
                    )}
                  </a>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </div>
    </nav>
  );
}

function Overview({ api }: { api: OpenApi }) {
  const t = translator("docs");
  return (
    <article>
      <h1 lang="en">
        {api.info.title} <span className="soft">{api.info.version}</span>
      </h1>
      {api.info.description && <Prose text={api.info.description} />}
      <p>
        {t("download")} <a href="/openapi.json">openapi.json</a>, <a href="/openapi.yaml">openapi.yaml</a>
      </p>
      <h2>{t("authentication")}</h2>
      <dl className="schemes">
        {Object.entries(api.components?.securitySchemes ?? {}).map(([name, scheme]) => (
          <div key={name}>
            <dt>
              <code>{name}</code>{" "}
              <span className="kind" lang="en">
                {scheme.type === "http" ? `Authorization: ${scheme.scheme}` : `${scheme.in}: ${scheme.name}`}
              </span>
            </dt>
            <dd>{scheme.description && <Prose text={scheme.description} />}</dd>
          </div>
        ))}
      </dl>
      {api.tags && (
        <dl className="schemes">
          {api.tags.map((tag) => (
            <div key={tag.name} lang="en">
              <dt>{tag.name}</dt>
              <dd>{tag.description}</dd>
            </div>
          ))}
        </dl>
      )}
    </article>
  );
}
