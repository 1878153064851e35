// Package azuretools asks the programs that people log in to Azure with (az, azd, PowerShell) for tokens. Azure's own library does so too,
// and ends them without what they started; here they are run in bounds, and ended with everything they started when their time is over and when
// this process ends.
//
// azuretools must not know what the tokens are for.
package azuretools
