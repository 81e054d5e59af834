module gossamer-lab-go

go 1.19
