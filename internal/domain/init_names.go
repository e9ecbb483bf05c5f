package domain

import (
	"regexp"
	"slices"
	"strings"
)

// What programs call tables and columns, by which init tells what they hold.

var (
	ownerNames  = regexp.MustCompile(`^(user|owner|account|tenant|customer|member|client|org|organi[sz]ation|company|team|household)(_?id)?$`)
	groupNames  = regexp.MustCompile(`^(tenant|org|organi[sz]ation|company|team|household)(_?id)?$`) // of those, the ones of several people
	partNames   = regexp.MustCompile(`_(by|to)$`)                                                    // of those who had a part in a row
	direction   = regexp.MustCompile(`_(from|to)$`)                                                  // of a row at either end, as issue_from_id
	workerNames = regexp.MustCompile(`_by$|^(assigned|delegated)_to$|^(assignee|author|reviewer|manager)$`)
	nestNames   = regexp.MustCompile(`^(lft|rgt|rght|tree_id)$`) // where a nested set keeps a row
	bookkeeping = regexp.MustCompile(`^((schema_)?migrations$|typeorm_metadata$|failed_jobs$|job_batches$|cache(_locks)?$|goose_|river_|flyway_|databasechangelog(lock)?$|ar_internal_metadata$|active_storage_|solid_(queue|cache|cable)_|` +
		`django_|ir_|strapi_|directus_|i18n_locale|(admin|up)_(permission|role)s|(admin|up)_users_roles?_lnk$|auth_(group|permission)(s|_|$)|auth_user_(groups|user_permissions)$|model_has_(role|permission)s$|role_has_permissions$|revinfo$)|_(migrations|aud)$`)
	// linkName is of tables that only say which rows go together, as Odoo and Strapi call them.
	linkName = regexp.MustCompile(`_(rel|lnk)$`)
	// doorNames are of tables of which each row lets somebody in; visitNames are, where they say by what program or with which token;
	// grantNames are of columns of logins by another program.
	doorNames   = regexp.MustCompile(`(^|_)(token|secret|credential|password(_reset)?|(api|access)_key|(auth|login|device|otp|recovery|backup|verification)_code|otp|magic_link)s?$`)
	visitNames  = regexp.MustCompile(`(^|_)sessions?$`)
	grantNames  = regexp.MustCompile(`^(access|refresh|id)_token$`)
	bareNames   = []string{"name", "nom", "nombre", "nome", "naam"} // whole ones, unless beside a part of one
	wholeNames  = slices.Concat(bareNames, []string{"display_name", "full_name", "bezeichnung", "nazwa"})
	firstNames  = []string{"first_name", "firstname", "given_name", "forename", "vorname", "prenom", "prénom", "voornaam", "imie", "imię"}
	lastNames   = []string{"last_name", "lastname", "surname", "family_name", "nachname", "familienname", "achternaam", "cognome", "apellido", "apellidos", "primer_apellido", "sobrenome", "nazwisko"}
	titleNames  = []string{"title", "label", "subject", "titel", "titre", "titulo", "título", "titolo", "tytul", "betreff", "sujet", "asunto", "libelle", "libellé", "intitule", "intitulé"}
	codeNames   = []string{"code", "username", "login", "email"}
	peopleNames = []string{"user", "auth_user", "account", "benutzer", "konto", "utilisateur", "compte", "usuario", "cuenta", "utente", "customer", "member", "client", "person", "profile", "tenant", "organization", "organisation", "company"}
	keptNames   = regexp.MustCompile(`(^|_)(update|updated|write|modified|changed|edited)(_|$)`)  // when a program last wrote the row
	goneNames   = regexp.MustCompile(`^((is_)?(deleted|discarded)|(deleted|discarded)_(at|on))$`) // by which programs mark rows as gone
	// secretNames are of what opens doors, or helps to.
	secretNames = regexp.MustCompile(`(^|_)(pass_?w(or)?d|pwd|passphrase|senha|contrase(n|ñ)a|mot_?de_?passe|mdp|passwort|kennwort|wachtwoord|lösenord|has[lł]o|parola|şifre|sifre|пароль|secret|token|salt|credential|cookie)s?(_(hash|digest|salt|hint|history|key))?$|` +
		`^(user_?)?pass$|(^|_)pass_(crypt|hash)$|(^|_)push_token(_|$)|(^|_)(api|private|secret|access|enc|encryption|session|reset|signing|activation)_?keys?$|(^|_)keys?_(hash|digest)$|^(encrypted|hashed|crypted)_|` +
		`(^|_)(backup|recovery|reset|verification|activation|invite|invitation|auth)_?codes?$|(^|_)pin(_?(code|hash|digest))?$|(^|_)(totp|otp)(_|$)|^(security|concurrency)_stamp$|(^|_)(cvv|cvc|card_number|ssn)$`)
	// contactNames and personalNames are of what strangers have no business to know of a person: texts, and whatever it is.
	contactNames  = regexp.MustCompile(`(^|_)(cell|e?mail|address|street|iban)(_|\d|$)`)
	personalNames = regexp.MustCompile(`(^|_)(phone|mobile|fax|birth|born|salary|wage)(_|\d|$)|^(birthday|dob)$`)
	// wordlessNames are of texts that only programs read.
	wordlessNames = regexp.MustCompile(`(^|_)(path|ur[il]|href|link|colou?r|hex|icon|avatar|slug|bucket|(object|storage|file)_key)s?$|` + fileNames.String())
	// fileNames are of what programs note of a file.
	fileNames     = regexp.MustCompile(`(^|_)(content_?type|mime_?type|(file|byte)_?size|file_?names?|checksum)$`)
	longTextNames = []string{"body", "content", "instructions", "full_text", "transcript"}
)

var camelHump = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// snake is a name in lower case, its words joined by _: OrderItem and "Order Item" are order_item.
func snake(name string) string {
	return strings.ReplaceAll(strings.ToLower(camelHump.ReplaceAllString(name, "${1}_${2}")), " ", "_")
}

// Spoken is the name of a column or table as people read it: orderItem and order_item are "order item", SKU stays.
func Spoken(name string) string {
	if camelHump.MatchString(name) {
		name = snake(name)
	}

	return strings.ReplaceAll(name, "_", " ")
}

// namesRows reports whether rows are called by a column, however its name is written: "Full name" is full_name.
func namesRows(column string) bool {
	return slices.Contains(slices.Concat(wholeNames, titleNames, codeNames), snake(column))
}

// keyOf is what a column's name says that its keys are of, "" where it says only that it is one: author_id, id_cliente, user_uuid, guid.
func keyOf(column string) (of string, is bool) {
	column = snake(column)
	if of, is = strings.CutPrefix(column, "id_"); is {
		return of, true
	}
	for _, ending := range []string{"_id", "_pk", "uuid", "guid"} {
		if of, is = strings.CutSuffix(column, ending); is {
			return strings.TrimSuffix(of, "_"), true
		}
	}

	return "", false
}

// namesWorker reports whether a column is named like one who had a part in a row, as assigned_to and author_id.
func namesWorker(column string) bool {
	return workerNames.MatchString(strings.TrimSuffix(snake(column), "_id"))
}

// isModel reports whether a column holds what Odoo calls the type of a row whose key is res_id.
func isModel(column string) bool { return column == "model" || column == "res_model" }
