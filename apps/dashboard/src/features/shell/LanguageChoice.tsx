import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { languages } from "../../../../shared/languages.ts";
import { changeLanguage } from "../../../../shared/ui/changeLanguage.ts";

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
          onClick={() => void changeLanguage(tag)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}
