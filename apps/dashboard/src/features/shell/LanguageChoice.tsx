import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { languages, showLanguage } from "../../../../shared/languages.ts";

const common = translator("common");

/** The languages of the pages, each in its own words. */
export function LanguageChoice() {
  return (
    <fieldset className="language-choice">
      <legend className="spoken">{common("language")}</legend>
      {languages().map(({ tag, name }) => (
        <button
          key={tag}
          type="button"
          lang={tag}
          aria-pressed={tag === pageLanguage()}
          onClick={() => void showLanguage(tag)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}
